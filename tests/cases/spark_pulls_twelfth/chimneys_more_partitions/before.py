import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "chimney string, sweep string, district string, soot_g int, swept timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    swept = spark.readStream.schema(SCHEMA).json(f"{LAKE}/chimneys").withWatermark("swept", "20 minutes")
    sweeps = swept.groupBy(F.window("swept", "1 hour"), "sweep").agg(
        F.count("chimney").alias("chimneys"), F.sum("soot_g").alias("soot_g")
    )
    return sweeps.writeStream.outputMode("append").foreachBatch(publish)
