import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SHORN = "fleece string, farm string, sheep long, kilos double, shorn timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def sheep(precision):
    return F.hll_sketch_estimate(F.hll_sketch_agg("sheep", precision))


def build(spark):
    shorn = spark.readStream.schema(SHORN).json(f"{LAKE}/shorn_sheep")
    farms = shorn.groupBy("farm").agg(sheep(12).alias("sheep"), F.sum("kilos").alias("kilos"))
    return farms.writeStream.outputMode("complete").foreachBatch(publish)
