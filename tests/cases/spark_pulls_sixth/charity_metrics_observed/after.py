import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gift string, appeal string, donor string, cents long, given timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def checked(gifts):
    return gifts.observe("quality", F.count_if(F.isnull("donor")).alias("nameless"), F.count(F.lit(1)).alias("gifts"))


def build(spark):
    gifts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gifts").withWatermark("given", "20 minutes")
    appeals = (
        checked(gifts)
        .dropDuplicatesWithinWatermark(["gift"])
        .groupBy(F.window("given", "1 hour"), "appeal")
        .agg(F.sum("cents").alias("cents"), F.count("donor").alias("named"))
    )
    started = appeals.writeStream.outputMode("append").queryName("appeals")
    return started.trigger(processingTime="30 seconds").foreachBatch(publish)
