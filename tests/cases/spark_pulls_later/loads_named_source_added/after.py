import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "feeder string, substation string, mw decimal(8,3), hz double, ts timestamp"


def loads(spark, region):
    return spark.readStream.name(region).schema(SCHEMA).json(f"{LAKE}/{region}").withColumn("region", F.lit(region))


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    spark.conf.set("spark.sql.streaming.offsetLog.formatVersion", "2")
    all_loads = loads(spark, "east")
    for region in ("south", "north"):
        all_loads = all_loads.unionByName(loads(spark, region))
    regions = all_loads.groupBy("region").agg(F.sum("mw").alias("mw"), F.count("*").alias("reports"))
    return regions.writeStream.outputMode("update").foreachBatch(publish)
