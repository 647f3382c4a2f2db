import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
COMMANDS = "satellite string, orbit int, command string, sent timestamp"
ANSWERS = "satellite string, orbit int, status string, bytes long, received timestamp"
SAME = "c.satellite = a.satellite AND c.orbit = a.orbit AND received >= sent"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    commands = spark.readStream.schema(COMMANDS).json(f"{LAKE}/commands").withWatermark("sent", "10 minutes")
    answers = spark.readStream.schema(ANSWERS).json(f"{LAKE}/answers").withWatermark("received", "10 minutes")
    answered = commands.alias("c").join(answers.alias("a"), F.expr(SAME), "inner")
    hours = answered.groupBy(F.window("received", "30 minutes"), "command").agg(
        F.count("*").alias("answers"),
        F.count_if(F.col("status") == "nak").alias("refused"),
        F.max("sent").alias("sent"),
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
