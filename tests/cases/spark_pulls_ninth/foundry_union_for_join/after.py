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
    both = poured.withColumnRenamed("poured", "at").unionByName(made.withColumnRenamed("made", "at"), True)
    lines = both.groupBy(F.window("at", "1 hour").alias("hour"), "line").agg(
        F.sum("kilos").alias("kilos"), F.sum("moulds").alias("moulds")
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
