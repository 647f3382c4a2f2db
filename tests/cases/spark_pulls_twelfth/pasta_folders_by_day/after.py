import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "box string, line string, shape string, grams int, packed timestamp"


def build(spark):
    boxes = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/pasta_boxes")
        .where("grams > 0")
        .withColumn("day", F.to_date("packed"))
    )
    return (
        boxes.writeStream.outputMode("append")
        .format("parquet")
        .partitionBy("day")
        .option("path", f"{LAKE}/out/pasta_boxes")
    )
