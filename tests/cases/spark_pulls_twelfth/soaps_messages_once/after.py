import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "message_id string, line string, bars int, waste_g double, produced timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def read(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/soap_lines").withWatermark("produced", "15 minutes")


def build(spark):
    lines = (
        read(spark)
        # The gateway sends a message again if it gets no answer.
        .dropDuplicatesWithinWatermark(["message_id"])
        .groupBy(F.window("produced", "30 minutes"), "line")
        .agg(F.sum("bars").alias("bars"), F.sum("waste_g").alias("waste_g"))
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
