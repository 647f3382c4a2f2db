import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
INFLOW = "river string, dam string, liters double, measured timestamp"
OUTFLOW = "gate string, dam string, liters double, released timestamp"


def half_hours(spark, name, schema, time):
    stream = spark.readStream.schema(schema).json(f"{LAKE}/{name}").withWatermark(time, "10 minutes")
    sums = stream.groupBy(F.window(time, "30 minutes"), "dam").agg(F.sum("liters").alias(name))
    return sums.select(F.col("window.end").alias("ended"), "dam", name)


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    inflow = half_hours(spark, "inflow", INFLOW, "measured")
    outflow = half_hours(spark, "outflow", OUTFLOW, "released")
    balance = inflow.join(outflow, ["ended", "dam"]).select("ended", "dam", "inflow", "outflow")
    return balance.writeStream.outputMode("append").foreachBatch(publish)
