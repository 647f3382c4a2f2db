import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "boat string, berth string, event string, at timestamp"


def logs(spark):
    lines = spark.readStream.text(f"{LAKE}/boat_logs")
    return lines.select(F.from_xml("value", SCHEMA).alias("l")).select("l.*")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    stays = (
        logs(spark)
        .where("event IN ('moored', 'left')")
        .withWatermark("at", "20 minutes")
        .dropDuplicates(["boat", "event", "at"])
        .groupBy(F.window("at", "1 hour"), "berth")
        .agg(
            F.count_if(F.col("event") == "moored").alias("moored"), F.count_if(F.col("event") == "left").alias("left_")
        )
    )
    return stays.writeStream.outputMode("append").foreachBatch(publish)
