import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LOGS = "log string, mill string, meters double, sawn timestamp"
PLANKS = "log string, width int, dried timestamp"
LIMIT = {"maxFilesPerTrigger": 20}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def read(spark, schema, folder):
    return spark.readStream.schema(schema).options(**LIMIT).json(f"{LAKE}/{folder}")


def build(spark):
    logs = read(spark, LOGS, "logs_of_saws").withWatermark("sawn", "10 minutes")
    planks = read(spark, PLANKS, "planks").withWatermark("dried", "20 minutes").withColumnRenamed("log", "of_log")
    dried = logs.join(
        planks, F.expr("log = of_log AND dried BETWEEN sawn AND sawn + INTERVAL 45 MINUTES"), "inner"
    )
    mills = dried.groupBy(F.window("sawn", "1 hour"), "mill").agg(
        F.count("*").alias("planks"), F.sum("width").alias("width"), F.max("meters").alias("longest")
    )
    return mills.writeStream.outputMode("append").foreachBatch(publish)
