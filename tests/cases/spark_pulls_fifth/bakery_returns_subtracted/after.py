import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "shop string, article string, kind string, pieces int, price decimal(6,2), sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def pieces():
    sign = F.when(F.col("kind") == "sale", 1).when(F.col("kind") == "return", -1).otherwise(0)
    return F.col("pieces") * sign


def build(spark):
    sales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")
    articles = (
        sales.where("article IS NOT NULL")
        .groupBy("article", "shop")
        .agg(F.sum(pieces()).alias("pieces"), F.max("sold").alias("newest"))
    )
    return articles.writeStream.outputMode("update").foreachBatch(publish)
