import os


LAKE = os.environ.get("LAKE", "/lake")
SHOTS = "meeting string, lane string, archer string, arrow int, shot timestamp"
MARKS = "meeting string, lane string, arrow int, points int, marked timestamp"
POINTS = """
    SELECT s.meeting, s.lane, s.archer, s.arrow, m.points, s.shot, m.marked
    FROM shots s
    JOIN marks m
      ON s.arrow = m.arrow
     AND s.lane = m.lane
     AND s.meeting = m.meeting
     AND m.marked BETWEEN s.shot AND s.shot + INTERVAL 30 MINUTES
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    shots = spark.readStream.schema(SHOTS).json(f"{LAKE}/shots_of_archers").withWatermark("shot", "20 minutes")
    shots.createOrReplaceTempView("shots")
    marks = spark.readStream.schema(MARKS).json(f"{LAKE}/marks_of_arrows").withWatermark("marked", "20 minutes")
    marks.createOrReplaceTempView("marks")
    return spark.sql(POINTS).writeStream.outputMode("append").foreachBatch(publish)
