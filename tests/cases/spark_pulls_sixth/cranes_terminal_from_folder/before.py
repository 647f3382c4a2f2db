import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "move string, terminal string, crane string, tons double, moved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    moves = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/terminal_moves/terminal=*").withWatermark("moved", "20 minutes")
    )
    hours = (
        moves.dropDuplicates(["move", "moved"])
        .groupBy(F.window("moved", "1 hour"), "terminal")
        .agg(F.sum("tons").alias("tons"), F.approx_count_distinct("crane").alias("cranes"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
