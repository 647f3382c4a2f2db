import os

from pyspark.sql.functions import col, count, sum, when, window

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "valve string, field string, litres double, moisture double, measured timestamp"
DRY = 20


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    valves = spark.readStream.schema(SCHEMA).json(f"{LAKE}/irrigation_valves")
    fields = (
        valves.withWatermark("measured", "10 minutes")
        .groupBy(window(col("measured"), "30 minutes"), col("field"))
        .agg(
            sum("litres").alias("litres"),
            count(when(col("moisture") < DRY, True)).alias("dry_readings"),
        )
    )
    return fields.writeStream.outputMode("update").foreachBatch(publish)
