import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "station string, temp string, rain string, wind string, observed string"


def observations(spark, folder="observations"):
    return spark.readStream.schema(SCHEMA).csv(f"{LAKE}/{folder}")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", "min")
    land = observations(spark).withColumn("ts", F.to_timestamp("observed")).withWatermark("ts", "10 minutes")
    sea = observations(spark, "buoys").withColumn("ts", F.to_timestamp("observed")).withWatermark("ts", "20 minutes")
    hours = land.union(sea).groupBy(F.window("ts", "30 minutes")).agg(F.count("*").alias("reports"))
    return hours.writeStream.outputMode("append").foreachBatch(publish)
