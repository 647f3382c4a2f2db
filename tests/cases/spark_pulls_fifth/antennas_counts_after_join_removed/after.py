import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
CELLS = "cell string, band string, dropped int, users int, measured timestamp"
ALARMS = "alarm string, cell_id string, since timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def streams(spark):
    cells = spark.readStream.schema(CELLS).json(f"{LAKE}/cells").withWatermark("measured", "10 minutes")
    alarms = spark.readStream.schema(ALARMS).json(f"{LAKE}/alarms").withWatermark("since", "10 minutes")
    return cells.where("dropped > 0"), alarms


def build(spark):
    cells, alarms = streams(spark)
    near = F.expr("cell = cell_id AND measured BETWEEN since AND since + INTERVAL 30 MINUTES")
    hit = cells.join(alarms, near)
    report = hit.select("measured", "since", "cell", "alarm", "dropped")
    return report.writeStream.outputMode("append").foreachBatch(publish)
