import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tray string, factory string, moisture double, weighed timestamp"
TRIALS = False


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def trays(spark, folder):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/{folder}").withWatermark("weighed", "20 minutes")


def build(spark):
    spark.conf.set("spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan", "true")
    trials = trays(spark, "trays_of_trials").where(F.lit(TRIALS))
    weighed = trays(spark, "trays_of_leaves").unionByName(trials)
    once = weighed.dropDuplicatesWithinWatermark(["tray"])
    factories = once.groupBy(F.window("weighed", "1 hour"), "factory").agg(
        F.min("moisture").alias("driest"), F.avg("moisture").alias("moisture"), F.count("*").alias("trays")
    )
    return factories.writeStream.outputMode("append").foreachBatch(publish)
