import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "hive string, apiary string, kg double, celsius double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def hives(spark):
    return F.broadcast(spark.read.schema("hive string, owner string, tare double").json(f"{LAKE}/hives"))


def build(spark):
    scales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scales")
    owned = scales.join(hives(spark), "hive")
    owned = owned.withColumn("kg", F.col("kg") - F.col("tare"))
    owners = owned.groupBy("owner").agg(F.sum("kg").alias("kg"), F.count("kg").alias("weighings"))
    return owners.writeStream.outputMode("update").foreachBatch(publish)
