import os

from pyspark.sql import functions as F
from pyspark.sql.types import StructType

LAKE = os.environ.get("LAKE", "/lake")
PICKS = "picked timestamp, robot string, grams int, aisle string"
DROPS = "station string, robot string, ok boolean, dropped timestamp"
PICKED = "robot string, grams bigint, picked timestamp"
DROPPED = "robot string, station string, dropped timestamp"
NEAR = "p.robot = d.robot AND dropped BETWEEN picked AND picked + INTERVAL 10 MINUTES"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    picks = spark.readStream.schema(PICKS).json(f"{LAKE}/robot_picks")
    picks = picks.to(StructType.fromDDL(PICKED)).withWatermark("picked", "20 minutes")
    drops = spark.readStream.schema(DROPS).json(f"{LAKE}/robot_drops")
    drops = drops.to(StructType.fromDDL(DROPPED)).withWatermark("dropped", "20 minutes")
    moved = picks.alias("p").join(drops.alias("d"), F.expr(NEAR), "leftOuter")
    stations = moved.groupBy(F.window("picked", "30 minutes"), "station").agg(
        F.count("*").alias("picks"), F.sum("grams").alias("grams"), F.max("grams").alias("heaviest")
    )
    return stations.writeStream.outputMode("append").foreachBatch(publish)
