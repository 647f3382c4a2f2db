import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "candidate string, school string, subject string, points int, graded timestamp"
PASSED = "points >= CASE subject WHEN 'law' THEN 60 ELSE 50 END"


def build(spark):
    graded = spark.readStream.schema(SCHEMA).json(f"{LAKE}/graded").where("points IS NOT NULL")
    results = (
        graded.withWatermark("graded", "20 minutes")
        .groupBy(F.window("graded", "2 hours"), "subject", F.expr(PASSED).alias("passed"))
        .agg(F.count("*").alias("candidates"), F.min("points").alias("fewest"), F.max("points").alias("most"))
    )
    return results.writeStream.format("console").outputMode("update")
