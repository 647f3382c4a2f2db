import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fleece string, shearer string, shed string, grade string, kg double, shorn timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    fleeces = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/fleeces")
        .select("fleece", "shed", "shearer", "kg", "grade", "shorn")
        .filter("kg BETWEEN 0.5 AND 12")
        .withWatermark("shorn", "1 hour")
        .dropDuplicates(["fleece", "shed", "shorn"])
        .withColumn("grams", (F.col("kg") * 1000).cast("int"))
        .select("shorn", "fleece", "shed", "shearer", "grams", "grade")
    )
    return fleeces.writeStream.outputMode("append").foreachBatch(publish)
