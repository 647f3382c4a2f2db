import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "review string, product string, author string, stars int, votes int, text string, at timestamp"


def reviews(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/reviews")


def append(rows, batch_id):
    """Write a batch in one file, as small files are slow to read."""
    rows.coalesce(1).write.mode("append").parquet(f"{LAKE}/out/reviews")


def build(spark):
    rated = reviews(spark).where("stars is not null").select("review", "product", "stars")
    return rated.writeStream.outputMode("append").foreachBatch(append)
