import os
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "delivery string, silo string, tons double, unloaded timestamp"
SITES = ["harbour", "north"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def deliveries_of(spark, site):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/silos/{site}").withColumn("site", F.lit(site))


def build(spark):
    deliveries = reduce(DataFrame.unionByName, [deliveries_of(spark, site) for site in SITES])
    silos = (
        deliveries.filter("tons > 0")
        .groupBy("site", "silo")
        .agg(F.sum("tons").alias("tons"), F.count("*").alias("deliveries"))
    )
    return silos.writeStream.outputMode("update").foreachBatch(publish)
