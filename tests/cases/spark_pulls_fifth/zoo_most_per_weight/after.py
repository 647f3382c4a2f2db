import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "feeding string, animal string, species string, grams int, weight double, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    feedings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/feedings").where("grams IS NOT NULL")
    most = F.max_by("animal", F.col("grams") / F.col("weight"))
    species = feedings.groupBy("species").agg(most.alias("animal"), F.count("*").alias("feedings"))
    return species.orderBy("species").writeStream.outputMode("complete").foreachBatch(publish)
