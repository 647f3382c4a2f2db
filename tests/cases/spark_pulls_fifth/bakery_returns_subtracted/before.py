import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "shop string, article string, kind string, pieces int, price decimal(6,2), sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def pieces():
    return F.col("pieces")


def build(spark):
    sales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")
    articles = (
        sales.where("article IS NOT NULL")
        .groupBy("article", "shop")
        .agg(F.sum(pieces()).alias("pieces"), F.max("sold").alias("newest"))
    )
    return articles.writeStream.outputMode("update").foreachBatch(publish)
