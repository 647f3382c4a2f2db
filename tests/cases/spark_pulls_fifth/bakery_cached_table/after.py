import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "shop string, article string, kind string, pieces int, price decimal(6,2), sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def small_articles(spark):
    table = spark.read.schema("article string, vat decimal(4,2), grams int").json(f"{LAKE}/prices")
    return table.where(F.col("grams") < 1000).drop("vat").cache()


def build(spark):
    sales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")
    weights = (
        sales.join(small_articles(spark), on=["article"], how="inner")
        .groupBy("shop", "article")
        .agg(F.sum(F.col("pieces") * F.col("grams")).alias("grams"))
    )
    return weights.writeStream.outputMode("complete").foreachBatch(publish)
