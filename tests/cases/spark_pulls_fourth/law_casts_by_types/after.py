import os

from pyspark.sql import functions as F
from pyspark.sql import types as T

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "entry long, lawyer string, matter string, minutes int, rate decimal(10,2), kind string, day date, noted timestamp"


def entries(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/entries")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def fee():
    """What an entry costs: rates are those of an hour."""
    minutes = F.col("minutes").cast(T.DecimalType(10, 2))
    return (minutes / F.lit(60) * F.col("rate")).cast(T.DecimalType(14, 2))


def build(spark):
    fees = (
        entries(spark)
        .withColumns({"fee": fee(), "month": F.date_format("day", "yyyy-MM")})
        .groupBy("lawyer", "month")
        .agg(F.sum("fee").alias("fees"), F.sum(F.col("minutes").astype(T.LongType())).alias("minutes"))
    )
    return fees.writeStream.outputMode("update").foreachBatch(publish)
