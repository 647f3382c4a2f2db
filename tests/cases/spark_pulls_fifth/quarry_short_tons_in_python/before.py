import os

from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "load string, pit string, truck string, stone string, tons double, loaded timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


@F.udf(returnType=DoubleType())
def net(tons, stone):
    """Take the water off."""
    if tons is None:
        return None
    dry = tons * (0.94 if stone == "gravel" else 0.98)
    return round(dry, 2)


def build(spark):
    loads = spark.readStream.schema(SCHEMA).json(f"{LAKE}/loads")
    stones = loads.groupBy("stone").agg(F.sum(net("tons", "stone")).alias("net"), F.count("load").alias("loads"))
    return stones.writeStream.outputMode("update").foreachBatch(publish)
