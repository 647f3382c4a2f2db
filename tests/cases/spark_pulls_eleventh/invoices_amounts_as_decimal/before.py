import os

from pyspark.sql import functions as F
from pyspark.sql import types as T

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = T.StructType(
    [
        T.StructField("invoice", T.StringType()),
        T.StructField("customer", T.StringType()),
        T.StructField("amount", T.DoubleType()),
        T.StructField("issued", T.TimestampType()),
    ]
)


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    invoices = spark.readStream.schema(SCHEMA).json(f"{LAKE}/invoices")
    open_amounts = invoices.groupBy("customer").agg(
        F.sum("amount").alias("amount"), F.max("amount").alias("largest"), F.count("invoice").alias("invoices")
    )
    return open_amounts.writeStream.outputMode("update").foreachBatch(publish)
