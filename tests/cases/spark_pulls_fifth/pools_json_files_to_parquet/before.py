import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, pool string, age int, minutes int, came timestamp"


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/visits")
    children = visits.where(F.col("age") < 18).select("ticket", "pool", "age", F.to_date("came").alias("day"))
    return (
        children.writeStream.outputMode("append")
        .format("json")
        .option("path", f"{LAKE}/out/children")
    )
