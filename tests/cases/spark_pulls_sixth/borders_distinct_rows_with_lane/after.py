import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "crossing string, post string, vehicle string, crossed timestamp, lane int"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    crossings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crossings").withWatermark("crossed", "30 minutes")
    posts = (
        crossings.where("vehicle IS NOT NULL")
        .dropDuplicates()
        .groupBy(F.window("crossed", "1 hour"), "post")
        .agg(F.count("*").alias("crossings"), F.count_if(F.col("vehicle") == "truck").alias("trucks"))
    )
    return posts.writeStream.outputMode("append").foreachBatch(publish)
