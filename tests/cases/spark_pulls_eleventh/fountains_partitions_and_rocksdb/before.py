import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fountain string, square string, flow double, temperature double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    flows = spark.readStream.schema(SCHEMA).json(f"{LAKE}/fountains").withWatermark("at", "10 minutes")
    squares = flows.groupBy(F.window("at", "30 minutes"), "square").agg(
        F.avg("flow").alias("flow"), F.min("temperature").alias("coldest")
    )
    return squares.writeStream.outputMode("update").foreachBatch(publish)
