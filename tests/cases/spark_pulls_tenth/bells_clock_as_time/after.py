import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RUNG = "bell string, tower string, clock string, rung timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def clock(column):
    return F.try_to_time(F.col(column), F.lit("HH:mm:ss"))


def build(spark):
    spark.conf.set("spark.sql.timeType.enabled", "true")
    rung = spark.readStream.schema(RUNG).json(f"{LAKE}/rung_bells")
    towers = (
        rung.withWatermark("rung", "20 minutes")
        .groupBy(F.window("rung", "2 hours"), "tower")
        .agg(F.min(clock("clock")).alias("first"), F.max(clock("clock")).alias("last"), F.count("bell").alias("bells"))
    )
    shown = towers.withColumns({"first": F.col("first").cast("string"), "last": F.col("last").cast("string")})
    return shown.writeStream.outputMode("append").foreachBatch(publish)
