import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "crosswalk string, button string, waited int, pressed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    presses = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crosswalk_presses").withWatermark("pressed", "5 minutes")
    known = presses.withColumn(
        "button", F.when(F.col("button").isin("?", "-"), F.lit(None)).otherwise(F.col("button"))
    ).withColumn("waited", F.when(F.col("waited") == -1, F.lit(None)).otherwise(F.col("waited")))
    once = known.dropDuplicatesWithinWatermark(["crosswalk", "button", "pressed"])
    quarters = once.groupBy(F.window("pressed", "15 minutes"), "crosswalk", "button").agg(
        F.count("*").alias("presses"), F.avg("waited").alias("waited")
    )
    return quarters.writeStream.outputMode("append").foreachBatch(publish)
