import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "shop string, article string, kind string, pieces int, price decimal(6,2), sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def articles(spark):
    table = spark.read.schema("article string, vat decimal(4,2), grams int").json(f"{LAKE}/prices")
    return table


def build(spark):
    sales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales").withWatermark("sold", "20 minutes")
    known = sales.join(articles(spark), "article", "left")
    taxes = (
        known.groupBy("shop", F.window("sold", "1 hour"))
        .agg(F.sum(F.col("price") * F.col("vat")).alias("vat"), F.count("*").alias("sales"))
        .select("shop", F.col("window.start").alias("hour"), "vat", "sales")
    )
    return taxes.writeStream.outputMode("append").foreachBatch(publish)
