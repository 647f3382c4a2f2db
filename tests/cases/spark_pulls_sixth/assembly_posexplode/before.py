import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "car string, line string, steps array<struct<name:string, newtons:int>>, done timestamp"


def steps_of(cars):
    numbered = F.transform("steps", lambda step, at: F.struct(at.alias("at"), step.alias("step")))
    return cars.select("car", "line", "done", F.explode(numbered).alias("s")).select(
        "car", "line", "done", "s.at", "s.step"
    )


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    cars = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/cars")
        .withWatermark("done", "20 minutes")
        .dropDuplicates(["car", "done"])
    )
    places = (
        steps_of(cars)
        .groupBy(F.window("done", "1 hour"), "line", "at")
        .agg(F.max("step.newtons").alias("most"), F.approx_count_distinct("step.name").alias("kinds"))
        .select("window.end", "line", "at", "most", "kinds")
    )
    return places.writeStream.outputMode("append").foreachBatch(publish)
