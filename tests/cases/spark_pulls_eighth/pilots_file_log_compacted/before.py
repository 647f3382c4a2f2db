import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "pilot string, ship string, port string, metres double, boarded timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    boarded = spark.readStream.schema(SCHEMA).json(f"{LAKE}/boardings").where("port IS NOT NULL")
    once = boarded.withWatermark("boarded", "30 minutes").dropDuplicatesWithinWatermark(["pilot", "ship"])
    ports = once.groupBy(F.window("boarded", "2 hours"), "port").agg(
        F.count("*").alias("ships"), F.max("metres").alias("longest")
    )
    return ports.writeStream.outputMode("append").foreachBatch(publish)
