import os

from pyspark.sql import Window
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "plant string, bed string, height_cm double, measured timestamp"


def save(batch, batch_id):
    newest_first = Window.partitionBy("plant").orderBy(F.desc("measured"))
    (
        batch.withColumn("n", F.row_number().over(newest_first))
        .where("n = 1")
        .drop("n")
        .withColumn("batch_id", F.lit(batch_id))
        .write.mode("append")
        .parquet(f"{LAKE}/out/plants")
    )


def build(spark):
    plants = spark.readStream.schema(SCHEMA).json(f"{LAKE}/nursery_plants").where("height_cm IS NOT NULL")
    return plants.writeStream.foreachBatch(save)
