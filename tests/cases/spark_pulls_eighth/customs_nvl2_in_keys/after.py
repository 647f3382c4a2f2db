import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
DECLARATIONS = "declaration string, broker string, importer string, kg double, declared timestamp"
PAYMENTS = "declaration string, paid decimal(10,2), paid_at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def declarations(spark):
    read = spark.readStream.schema(DECLARATIONS).json(f"{LAKE}/customs_declarations")
    return (
        read.withWatermark("declared", "30 minutes")
        .withColumn("party", F.nvl2("broker", "broker", "importer"))
        .withColumn("kg", F.zeroifnull("kg"))
    )


def payments(spark):
    read = spark.readStream.schema(PAYMENTS).json(f"{LAKE}/customs_payments")
    return read.withWatermark("paid_at", "30 minutes").withColumnRenamed("declaration", "of")


def build(spark):
    near = "of = declaration AND paid_at BETWEEN declared AND declared + INTERVAL 2 HOURS"
    paid = declarations(spark).join(payments(spark), F.expr(near))
    parties = paid.groupBy(F.window("paid_at", "1 hour"), "party").agg(
        F.sum("paid").alias("paid"), F.sum("kg").alias("kg"), F.count("*").alias("n")
    )
    return parties.writeStream.outputMode("append").foreachBatch(publish)
