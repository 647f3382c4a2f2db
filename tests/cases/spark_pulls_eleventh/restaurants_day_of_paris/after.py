import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bill string, restaurant string, covers int, total double, closed_at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    bills = spark.readStream.schema(SCHEMA).json(f"{LAKE}/restaurant_bills")
    days = (
        bills.filter(F.col("total") > 0)
        .groupBy("restaurant", F.to_date("closed_at").alias("day"))
        .agg(F.sum("total").alias("turnover"), F.sum("covers").alias("covers"), F.count("*").alias("bills"))
    )
    return days.writeStream.outputMode("update").foreachBatch(publish)
