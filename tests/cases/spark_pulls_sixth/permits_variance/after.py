import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "permit string, district string, cost double, granted timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    granted = spark.readStream.schema(SCHEMA).json(f"{LAKE}/granted").withWatermark("granted", "20 minutes")
    districts = (
        granted.dropDuplicatesWithinWatermark(["permit"])
        .groupBy("district")
        .agg(F.var_samp("cost").alias("spread"), F.avg("cost").alias("mean"), F.count("*").alias("permits"))
    )
    return districts.where("permits >= 3").writeStream.outputMode("update").foreachBatch(publish)
