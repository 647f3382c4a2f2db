import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LIFTED = "container string, crane string, lifted timestamp"
LANDED = "box string, ship string, landed timestamp"
RANGE = "container = box AND landed >= lifted AND landed <= timestampadd(MINUTE, 30, lifted)"


def stream(spark, name, schema, time):
    return spark.readStream.schema(schema).json(f"{LAKE}/{name}").withWatermark(time, "10 minutes")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    lifted = stream(spark, "lifted", LIFTED, "lifted")
    landed = stream(spark, "landed", LANDED, "landed")
    moved = lifted.join(landed, F.expr(RANGE))
    ships = (
        moved.groupBy(F.window("landed", "1 hour"), "ship")
        .agg(F.count("*").alias("boxes"), F.approx_count_distinct("crane").alias("cranes"))
        .select("window.start", "ship", "boxes", "cranes")
    )
    return ships.writeStream.outputMode("append").foreachBatch(publish)
