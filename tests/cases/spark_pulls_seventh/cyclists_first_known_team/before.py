import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RIDERS = "rider string, country string"
SCHEMA = "rider string, team string, gate int, watts int, passed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    riders = spark.read.schema(RIDERS).json(f"{LAKE}/riders_of_race")
    passed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gates_of_race").where("rider IS NOT NULL")
    known = passed.join(F.broadcast(riders), "rider", "left")
    standings = known.groupBy("rider").agg(
        F.first("team").alias("team"),
        F.max("gate").alias("gate"),
        F.max_by("country", "passed").alias("country"),
        F.avg("watts").alias("watts"),
    )
    return standings.writeStream.outputMode("update").foreachBatch(publish)
