import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ride string, zone string, fare double, minutes int, ts timestamp"


def rides(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/rides")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    flagged = rides(spark).withColumn("per_minute", F.col("fare") / F.col("minutes")).where("minutes >= 8").select(
        "ride", F.upper("zone").alias("zone"), F.col("per_minute").cast("decimal(8,2)").alias("per_minute")
    )
    return flagged.writeStream.outputMode("append").trigger(processingTime="30 seconds").foreachBatch(publish)
