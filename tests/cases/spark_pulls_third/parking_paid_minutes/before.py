import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

ENTRY = "ticket string, plate string, lot string, entered timestamp"
EXIT = "ticket string, plate string, lot string, left timestamp, paid decimal(6,2)"


def entries(spark):
    rows = spark.readStream.schema(ENTRY).json(f"{LAKE}/entries")
    return rows.withWatermark("entered", "30 minutes")


def exits(spark):
    rows = spark.readStream.schema(EXIT).json(f"{LAKE}/exits")
    return rows.withWatermark("left", "30 minutes")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    came, went = entries(spark).alias("came"), exits(spark).alias("went")
    same = F.expr("came.ticket = went.ticket and left between entered and entered + interval 4 hours")
    seconds = F.unix_timestamp("left") - F.unix_timestamp("entered")
    stays = came.join(went, same).select(
        "came.lot", "left", F.floor(seconds / 60).alias("minutes"), "paid"
    )
    hours = (
        stays.groupBy(F.window("left", "1 hour"), "lot")
        .agg(F.sum("minutes").alias("minutes"), F.count("*").alias("stays"))
        .select("window.start", "lot", "minutes", "stays")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
