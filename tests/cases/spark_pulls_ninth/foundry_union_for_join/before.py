import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
POURED = "line string, kilos double, poured timestamp"
MADE = "line string, moulds long, made timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    poured = spark.readStream.schema(POURED).json(f"{LAKE}/poured_metal").withWatermark("poured", "20 minutes")
    made = spark.readStream.schema(MADE).json(f"{LAKE}/made_moulds").withWatermark("made", "20 minutes")
    kilos = poured.groupBy(F.window("poured", "1 hour").alias("hour"), "line").agg(F.sum("kilos").alias("kilos"))
    moulds = made.groupBy(F.window("made", "1 hour").alias("hour"), "line").agg(F.sum("moulds").alias("moulds"))
    lines = kilos.join(moulds, ["hour", "line"])
    return lines.writeStream.outputMode("append").foreachBatch(publish)
