import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "play string, station string, title string, seconds int, started timestamp"
SONGS = """
SELECT window.start AS hour, station, song, count(*) AS plays, sum(played) AS seconds
FROM (
  SELECT station, started, upper(trim(title)) AS song, greatest(seconds, 0) AS played
  FROM plays
)
GROUP BY window(started, '1 hour'), station, song
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    plays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/radio_plays").withWatermark("started", "20 minutes")
    plays.dropDuplicatesWithinWatermark(["play"]).createOrReplaceTempView("plays")
    return spark.sql(SONGS).writeStream.outputMode("append").foreachBatch(publish)
