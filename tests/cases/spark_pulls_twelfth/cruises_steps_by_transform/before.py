import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "guest string, ship string, venue string, amount double, charged_at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    charges = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/cruise_charges")
        .filter(F.col("amount") > 0)
        .filter(F.col("ship").isNotNull())
        .withColumn("venue", F.coalesce(F.lower(F.col("venue")), F.lit("unknown")))
        .withColumn("tip", F.round(F.col("amount") * 0.18, 2))
        .withWatermark("charged_at", "15 minutes")
        .groupBy(F.window("charged_at", "30 minutes"), "ship", "venue")
        .agg(
            F.sum("amount").alias("amount"),
            F.sum("tip").alias("tips"),
            F.count("guest").alias("charges"),
        )
    )
    return charges.writeStream.outputMode("append").foreachBatch(publish)
