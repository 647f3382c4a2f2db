import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "geyser string, metres double, erupted timestamp"
TOP = 2


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def ranking(erupted):
    counts = erupted.groupBy("geyser").agg(F.count("*").alias("eruptions"), F.max("metres").alias("metres"))
    return counts.orderBy(F.desc("eruptions"), F.asc_nulls_last("geyser")).limit(TOP)


def build(spark):
    erupted = spark.readStream.schema(SCHEMA).json(f"{LAKE}/eruptions")
    return ranking(erupted).writeStream.outputMode("complete").queryName("geysers").foreachBatch(publish)
