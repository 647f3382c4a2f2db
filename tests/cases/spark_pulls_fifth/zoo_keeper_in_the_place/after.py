import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
PLACE = "struct<house:string,cage:int,keeper:string>"
SCHEMA = f"animal string, place {PLACE}, grams int, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    feedings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/feedings")
    places = (
        feedings.groupBy("place")
        .agg(F.sum("grams").alias("grams"), F.count("*").alias("feedings"))
        .select("place.*", "grams", "feedings")
    )
    return places.writeStream.outputMode("update").foreachBatch(publish)
