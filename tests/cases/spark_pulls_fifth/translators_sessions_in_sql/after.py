import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "segment string, translator string, pair string, text string, score double, saved timestamp"
SESSIONS = """
    SELECT translator, session_window.start AS start, session_window.end AS end,
           count(*) AS segments, sum(score) / count(score) AS score
    FROM segments
    WHERE translator IS NOT NULL
    GROUP BY translator, session_window(saved, '25 minutes')
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    segments = spark.readStream.schema(SCHEMA).json(f"{LAKE}/segments").withWatermark("saved", "10 minutes")
    segments.createOrReplaceTempView("segments")
    return spark.sql(SESSIONS).writeStream.outputMode("append").foreachBatch(publish)
