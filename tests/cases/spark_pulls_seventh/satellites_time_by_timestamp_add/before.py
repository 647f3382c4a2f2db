import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
COMMANDS = "satellite string, orbit int, command string, epoch long, offset_s int"
ANSWERS = "satellite string, orbit int, status string, bytes long, received timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def at(epoch, offset):
    return F.timestamp_seconds(F.col(epoch) + F.col(offset))


def build(spark):
    commands = spark.readStream.schema(COMMANDS).json(f"{LAKE}/commands_by_epoch").where("offset_s IS NOT NULL")
    sent = commands.withColumn("sent", at("epoch", "offset_s")).withWatermark("sent", "10 minutes").alias("c")
    answers = spark.readStream.schema(ANSWERS).json(f"{LAKE}/answers_to_commands")
    received = answers.withWatermark("received", "10 minutes").alias("a")
    answered = sent.join(
        received,
        F.expr(
            "c.satellite = a.satellite AND c.orbit = a.orbit"
            " AND received BETWEEN sent AND sent + INTERVAL 30 MINUTES"
        ),
        "leftOuter",
    )
    hours = answered.groupBy(F.window("sent", "1 hour"), "c.satellite").agg(
        F.count("*").alias("commands"), F.count("status").alias("answers"), F.sum("bytes").alias("bytes")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
