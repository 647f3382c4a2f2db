import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

CHECKED = "bag string, flight string, kg double, ts timestamp"
BELT = "tag string, belt int, ts timestamp"


def checked(spark):
    return spark.readStream.schema(CHECKED).json(f"{LAKE}/checked").withWatermark("ts", "10 minutes")


def belts(spark):
    return spark.readStream.schema(BELT).json(f"{LAKE}/belts").withWatermark("ts", "5 minutes")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    seen = belts(spark).withColumnRenamed("ts", "seen")
    condition = F.expr("bag = tag AND seen BETWEEN ts AND ts + interval 30 minutes")
    joined = checked(spark).join(seen, condition, "inner")
    return joined.select("bag", "flight", "kg", "belt").writeStream.outputMode("append").foreachBatch(publish)
