import os
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, show string, price double, booked timestamp"
HALLS = {"main": 1.0, "studio": 0.8, "garden": 1.2}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def sales(spark, hall):
    sold = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales_{hall}")
    return sold.withColumns({"hall": F.lit(hall), "price": F.col("price") * HALLS[hall]})


def build(spark):
    sold = reduce(DataFrame.unionByName, [sales(spark, hall) for hall in HALLS])
    once = sold.withWatermark("booked", "20 minutes").dropDuplicatesWithinWatermark(["ticket", "booked"])
    shows = once.groupBy(F.window("booked", "1 hour"), "show").agg(
        F.sum("price").alias("price"), F.count("*").alias("tickets"), F.max("hall").alias("hall")
    )
    return shows.writeStream.outputMode("append").foreachBatch(publish)
