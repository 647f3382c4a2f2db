import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, museum string, kind string, price decimal(8,2), groups array<string>, entered timestamp"


def admissions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/admissions")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    schools = (
        admissions(spark)
        .where(F.array_contains("groups", "school"))
        .groupBy("museum")
        .agg(F.count("ticket").alias("pupils"), F.sum("price").alias("takings"), F.max("price").alias("dearest"))
    )
    return schools.writeStream.outputMode("update").foreachBatch(publish)
