import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "meter string, site string, kwh double, tariff string, ts timestamp"


def meters(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/meters")


def known(df):
    return df.dropna(subset=["kwh"])


def in_watt_hours(df):
    return df.withColumn("wh", F.round(F.col("kwh") * 1000).cast("long"))


def by_half_hour(df):
    half_hour = F.window("ts", "30 minutes").start.alias("half_hour")
    return df.groupBy("site", half_hour).agg(F.sum("wh").alias("wh"))


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    steps = meters(spark).transform(known).transform(in_watt_hours).transform(by_half_hour)
    return steps.writeStream.outputMode("update").foreachBatch(publish)
