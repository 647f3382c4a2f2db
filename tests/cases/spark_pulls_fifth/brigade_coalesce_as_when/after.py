import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "call string, station string, district string, kind string, crew int, raised timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def responsible():
    return (
        F.when(F.col("station").isNotNull(), F.col("station"))
        .when(F.col("district").isNotNull(), F.concat(F.lit("district "), "district"))
        .otherwise("headquarters")
    )


def build(spark):
    calls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")
    load = (
        calls.withColumn("responsible", responsible())
        .groupBy("responsible")
        .agg(F.count("*").alias("calls"), F.sum("crew").alias("crew"), F.max("raised").alias("newest"))
    )
    return load.writeStream.outputMode("update").foreachBatch(publish)
