import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    trips = (
        spark.readStream.schema("trip string, boat string, club string, metres int, landed timestamp")
        .json(f"{LAKE}/rowing_trips")
        .withColumn("club", F.when(F.col("club").isNull(), "guests").otherwise(F.col("club")))
        .withColumn("metres", F.when(F.col("metres").isNull(), 0).otherwise(F.col("metres")))
        .withColumn("day", F.to_date("landed"))
    )
    clubs = trips.groupBy("day", "club").agg(
        F.sum("metres").alias("metres"), F.max("metres").alias("longest"), F.count("trip").alias("trips")
    )
    return clubs.writeStream.outputMode("update").foreachBatch(publish)
