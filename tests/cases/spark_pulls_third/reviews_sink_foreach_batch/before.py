import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "review string, product string, author string, stars int, votes int, text string, at timestamp"


def reviews(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/reviews")


def build(spark):
    rated = reviews(spark).where("stars is not null").select("review", "product", "stars")
    return (
        rated.writeStream.format("parquet")
        .option("path", f"{LAKE}/out/reviews")
        .outputMode("append")
    )
