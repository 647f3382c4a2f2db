import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "student string, exam string, question int, points double, answer string, ts timestamp"


def answers(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/answers")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    students = answers(spark).groupBy("student", "exam").agg(F.sum(F.greatest("points", F.lit(0.0))).alias("points"), F.count("*").alias("answers"))
    return students.writeStream.outputMode("update").foreachBatch(publish)
