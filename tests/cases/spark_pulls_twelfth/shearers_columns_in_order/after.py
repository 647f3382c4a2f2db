import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fleece string, shearer string, shed string, grade string, kg double, shorn timestamp"
KEYS = ["shed", "fleece", "shorn"]
VALUES = ["shearer", "grade", "kg"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    fleeces = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/fleeces")
        .select(*KEYS, *VALUES)
        .filter(F.col("kg").between(0.5, 12))
        .withWatermark("shorn", "1 hour")
        .dropDuplicates(KEYS)
        .select(*KEYS, "shearer", "grade", F.expr("cast(kg * 1000 AS int)").alias("grams"))
    )
    return fleeces.writeStream.outputMode("append").foreachBatch(publish)
