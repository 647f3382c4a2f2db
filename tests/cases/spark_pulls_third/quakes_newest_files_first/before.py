import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, place string, magnitude double, depth double, felt map<string,int>, at timestamp"


def quakes(spark):
    return (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .json(f"{LAKE}/quakes")
    )


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    felt = quakes(spark).select("place", "magnitude", F.explode("felt").alias("channel", "reports"))
    channels = felt.groupBy("place", "channel").agg(
        F.sum("reports").alias("reports"), F.max("magnitude").alias("strongest")
    )
    return channels.writeStream.outputMode("update").foreachBatch(publish)
