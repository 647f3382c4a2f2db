import os

from pyspark.sql.functions import coalesce, col, count, lit, sum as sum_, to_timestamp, window

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ride_id string, driver string, zone string, fare double, tip double, ended string"


def write_to_warehouse(df, epoch_id):
    df.write.format("noop").mode("append").save()


def build(spark):
    df = spark.readStream.schema(SCHEMA).json(f"{LAKE}/taxi_rides")
    df = df.withColumn("ended", to_timestamp(col("ended")))
    df = df.filter(col("fare").isNotNull())
    df = df.withColumn("revenue", col("fare") + coalesce(col("tip"), lit(0.0)))
    df = df.withWatermark("ended", "15 minutes")
    df = df.groupBy(window(col("ended"), "30 minutes"), col("zone")).agg(
        sum_("revenue").alias("revenue"), count("*").alias("rides")
    )
    df = df.select(
        col("window.start").alias("from"), col("window.end").alias("to"), col("zone"), col("revenue"), col("rides")
    )
    return df.writeStream.outputMode("append").foreachBatch(write_to_warehouse)
