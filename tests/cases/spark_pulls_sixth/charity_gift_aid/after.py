import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gift string, appeal string, donor string, amount decimal(8,2), taxpayer boolean, given timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gifts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gifts").withWatermark("given", "1 hour")
    appeals = (
        gifts.dropDuplicatesWithinWatermark(["gift"])
        .withColumn("worth", F.col("amount").cast("double") * F.when(F.col("taxpayer"), 1.25).otherwise(1.0))
        .groupBy("appeal")
        .agg(
            F.avg("worth").alias("mean"),
            F.max("worth").alias("largest"),
            F.approx_count_distinct("donor").alias("donors"),
        )
    )
    return appeals.writeStream.outputMode("update").foreachBatch(publish)
