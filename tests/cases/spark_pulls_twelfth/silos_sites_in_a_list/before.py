import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "delivery string, silo string, tons double, unloaded timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    north = spark.readStream.schema(SCHEMA).json(f"{LAKE}/silos/north").withColumn("site", F.lit("north"))
    harbour = spark.readStream.schema(SCHEMA).json(f"{LAKE}/silos/harbour").withColumn("site", F.lit("harbour"))
    deliveries = north.unionByName(harbour)
    silos = (
        deliveries.filter("tons > 0")
        .groupBy("site", "silo")
        .agg(F.sum("tons").alias("tons"), F.count("*").alias("deliveries"))
    )
    return silos.writeStream.outputMode("update").foreachBatch(publish)
