import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
FIELDS = {
    "load": "string",
    "silo": "string",
    "crop": "string",
    "kg": "decimal(9,1)",
    "weighed": "timestamp",
}


def records(spark):
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "grain-loads")
        .option("startingOffsets", "earliest")
        .load()
        .select(F.col("value").cast("string").alias("value"))
    )


def loads(spark):
    parsed = records(spark).select(F.try_parse_json("value").alias("v"))
    return parsed.select(*[F.try_variant_get("v", f"$.{name}", kind).alias(name) for name, kind in FIELDS.items()])


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    known = loads(spark).where("silo IS NOT NULL").withWatermark("weighed", "15 minutes")
    silos = (
        known.dropDuplicatesWithinWatermark(["load"])
        .groupBy(F.window("weighed", "40 minutes"), "silo", "crop")
        .agg(F.sum("kg").alias("kg"), F.count("*").alias("loads"))
    )
    return silos.writeStream.outputMode("append").foreachBatch(publish)
