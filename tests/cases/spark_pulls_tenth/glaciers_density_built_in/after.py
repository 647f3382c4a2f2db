import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
CORES = "core string, glacier string, depth double, drilled timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def density(depth):
    """Density of firn in kg per cubic metre."""
    return F.lit(917.0) - F.lit(567.0) * F.exp(-F.col(depth) / 30.0)


def build(spark):
    cores = spark.readStream.schema(CORES).json(f"{LAKE}/drilled_cores").withWatermark("drilled", "40 minutes")
    dense = cores.withColumn("density", density("depth")).where("density > 500")
    glaciers = dense.groupBy(F.window("drilled", "2 hours", "1 hour"), "glacier").agg(
        F.avg("density").alias("density"),
        F.count_if(F.col("density") > 830).alias("ice"),
        F.max("depth").alias("depth"),
    )
    return glaciers.writeStream.outputMode("append").foreachBatch(publish)
