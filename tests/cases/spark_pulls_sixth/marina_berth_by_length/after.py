import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "boat string, pier string, meters double, moored timestamp"
LONGEST, CLASSES = 40, 4


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    boats = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/moored").where("meters > 0").withWatermark("moored", "2 hours")
    )
    berth = F.width_bucket("meters", F.lit(0.0), F.lit(float(LONGEST)), F.lit(CLASSES)).alias("berth")
    piers = (
        boats.dropDuplicates(["boat", "moored"])
        .groupBy("pier", berth)
        .agg(F.count("*").alias("boats"), F.sum("meters").alias("meters"), F.max("moored").alias("last"))
    )
    return piers.writeStream.outputMode("update").foreachBatch(publish)
