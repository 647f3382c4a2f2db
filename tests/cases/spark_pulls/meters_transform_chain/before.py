import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "meter string, site string, kwh double, tariff string, ts timestamp"


def meters(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/meters")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    df = meters(spark)
    df = df.filter(df.kwh.isNotNull())
    df = df.withColumn("half_hour", F.window(df.ts, "30 minutes").start)
    df = df.withColumn("wh", F.round(df.kwh * 1000).cast("long"))
    df = df.groupBy("site", "half_hour").agg(F.sum("wh").alias("wh"))
    return df.writeStream.outputMode("update").foreachBatch(publish)
