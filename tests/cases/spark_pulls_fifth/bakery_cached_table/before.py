import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "shop string, article string, kind string, pieces int, price decimal(6,2), sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")
    articles = spark.read.schema("article string, vat decimal(4,2), grams int").json(f"{LAKE}/prices")
    weights = (
        sales.join(articles, "article")
        .where(F.col("grams") < 1000)
        .groupBy("shop", "article")
        .agg(F.sum(F.col("pieces") * F.col("grams")).alias("grams"))
    )
    return weights.writeStream.outputMode("complete").foreachBatch(publish)
