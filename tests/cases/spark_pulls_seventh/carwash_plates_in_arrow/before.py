import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "plate string, site string, programme string, price double, washed timestamp"


def cleaned(frames):
    for frame in frames:
        frame["plate"] = frame["plate"].str.replace(" ", "").str.upper()
        yield frame


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    washes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/plates").mapInPandas(cleaned, SCHEMA)
    cars = washes.where("plate IS NOT NULL").groupBy("plate").agg(
        F.count("*").alias("washes"),
        F.sum("price").alias("price"),
        F.max_by("programme", "washed").alias("programme"),
    )
    return cars.writeStream.outputMode("update").foreachBatch(publish)
