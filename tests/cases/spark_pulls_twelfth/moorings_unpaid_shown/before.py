import os

from pyspark.sql.functions import expr

LAKE = os.environ.get("LAKE", "/lake")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    arrivals = (
        spark.readStream.schema("mooring_id string, boat string, jetty string, moored timestamp")
        .json(f"{LAKE}/moorings")
        .withWatermark("moored", "10 minutes")
    )
    payments = (
        spark.readStream.schema("paid_for string, euros double, paid timestamp")
        .json(f"{LAKE}/mooring_payments")
        .withWatermark("paid", "20 minutes")
    )
    paid = arrivals.join(
        payments,
        expr("mooring_id = paid_for AND paid BETWEEN moored AND moored + INTERVAL 1 HOUR"),
        "inner",
    )
    return (
        paid.select("mooring_id", "boat", "jetty", "moored", "euros", "paid")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
