import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "airplay string, recording string, station string, seconds int, aired timestamp"
UNITS = """
    SELECT station, recording, count(*) AS units, max(aired) AS last
    FROM airplays
    WHERE recording <> ''
    GROUP BY station, recording
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    airplays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/airplays").withWatermark("aired", "2 hours")
    airplays.dropDuplicates(["airplay", "aired"]).createOrReplaceTempView("airplays")
    return spark.sql(UNITS).writeStream.outputMode("update").foreachBatch(publish)
