import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
OPENED = "mail string, reader string, list_id string, agent string, opened_at timestamp"
LISTS = "list_id string, title string, owner string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def by_people(opened):
    proxy = F.lower("agent").like("%proxy%")
    return opened.where(~proxy | F.col("agent").isNull())


def with_titles(lists):
    def join(opened):
        return opened.join(lists, "list_id", "left").withColumn("title", F.coalesce("title", F.lit("unknown")))

    return join


def opens_per_title(opened):
    return opened.groupBy("owner", "title").agg(
        F.count("*").alias("opens"),
        F.approx_count_distinct("reader").alias("readers"),
        F.max("opened_at").alias("newest"),
    )


def build(spark):
    lists = spark.read.schema(LISTS).json(f"{LAKE}/tables/lists")
    opened = spark.readStream.schema(OPENED).json(f"{LAKE}/newsletter_opens")
    titles = opened.transform(by_people).transform(with_titles(lists)).transform(opens_per_title)
    return titles.writeStream.outputMode("update").foreachBatch(publish)
