import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "download string, show string, episode int, agent string, bytes long, country string, loaded timestamp"


def downloads(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/downloads")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def of_people(rows):
    return rows.where(F.col("agent").isNotNull() & ~F.col("agent").contains("bot"))


def judged(rows):
    return rows.withColumn("complete", F.col("bytes") > 1_000_000)


def by_show(rows):
    return (
        rows.groupBy("show", F.window("loaded", "15 minutes"))
        .agg(F.count_if("complete").alias("plays"), F.sum("bytes").alias("bytes"))
        .select("show", F.col("window.start").alias("start"), "plays", "bytes")
    )


def build(spark):
    watched = downloads(spark).withWatermark("loaded", "1 hour")
    plays = watched.transform(of_people).transform(judged).transform(by_show)
    return plays.writeStream.outputMode("update").foreachBatch(publish)
