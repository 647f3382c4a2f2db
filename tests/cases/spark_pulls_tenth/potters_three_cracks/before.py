import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
FIRED = "pot string, potter string, cracks int, fired timestamp"


def cracked(batch):
    return batch.where("cracks >= 2").withColumn("day", F.to_date("fired"))


def save(batch, batch_id):
    batch.persist()
    cracked(batch).select("pot", "potter", "cracks", "day").write.mode("append").parquet(f"{LAKE}/out/cracked_pots")
    batch.unpersist()


def build(spark):
    fired = spark.readStream.schema(FIRED).json(f"{LAKE}/fired_pots").withWatermark("fired", "1 hour")
    return fired.dropDuplicates(["pot", "fired"]).writeStream.outputMode("append").foreachBatch(save)
