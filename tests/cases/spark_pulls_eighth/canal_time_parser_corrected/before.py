import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "passage string, lock string, boat string, tonnes int, noted string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    notes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/lock_notes")
    passed = notes.withColumn("passed", F.try_to_timestamp("noted", F.lit("dd.MM.yyyy HH:mm")))
    once = (
        passed.where("passed IS NOT NULL")
        .withWatermark("passed", "30 minutes")
        .dropDuplicatesWithinWatermark(["passage"])
    )
    locks = once.groupBy(F.window("passed", "2 hours"), "lock").agg(
        F.count("*").alias("boats"), F.sum("tonnes").alias("tonnes")
    )
    return locks.writeStream.outputMode("append").foreachBatch(publish)
