import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "flight string, runway string, tons double, training boolean, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def read(spark, kind):
    rows = spark.readStream.schema(SCHEMA).json(f"{LAKE}/{kind}")
    used = rows.where("runway IS NOT NULL AND training IS NOT TRUE")
    return used.withColumn("kind", F.lit(kind)).withWatermark("at", "15 minutes")


def build(spark):
    moves = read(spark, "landings").unionByName(read(spark, "takeoffs"))
    once = moves.dropDuplicatesWithinWatermark(["flight", "kind"])
    runways = once.groupBy(F.window("at", "30 minutes"), "runway").agg(
        F.count("*").alias("moves"),
        F.sum("tons").alias("tons"),
        F.count_if(F.col("kind") == "landings").alias("landings"),
    )
    return runways.writeStream.outputMode("append").foreachBatch(publish)
