import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, skates int, hired boolean, entered timestamp"
GATES = {"north": "rink_north_gate", "south": "rink_south_gate"}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def entered(spark, gate):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/{GATES[gate]}").withColumn("gate", F.lit(gate))
    return scans.withWatermark("entered", "30 minutes").dropDuplicatesWithinWatermark(["ticket"])


def build(spark):
    visitors = entered(spark, "north").unionByName(entered(spark, "south"))
    hours = visitors.groupBy(F.window("entered", "1 hour")).agg(
        F.count("*").alias("visitors"), F.count_if("hired").alias("hired"), F.mode("skates", True).alias("size")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
