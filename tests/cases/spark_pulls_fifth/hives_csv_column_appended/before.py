import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
COLUMNS = "hive string, apiary string, kg double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = spark.readStream.schema(COLUMNS).option("sep", ";").option("nullValue", "-").csv(f"{LAKE}/readings")
    heaviest = readings.groupBy("apiary").agg(F.max("kg").alias("kg"), F.max_by("hive", "kg").alias("hive"))
    return heaviest.writeStream.outputMode("update").foreachBatch(publish)
