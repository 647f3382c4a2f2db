import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, shop string, game string, stake decimal(8,2), prize decimal(10,2), bought timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def tickets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/tickets_of_lottery")


def build(spark):
    once = tickets(spark).withWatermark("bought", "15 minutes").dropDuplicatesWithinWatermark(["ticket"])
    games = once.groupBy(F.window("bought", "1 hour"), "game").agg(
        F.sum("stake").alias("stake"), F.sum("prize").alias("prizes"), F.collect_set("shop").alias("shops")
    )
    games = games.withColumn("shops", F.array_sort("shops"))
    return games.writeStream.outputMode("append").foreachBatch(publish)
