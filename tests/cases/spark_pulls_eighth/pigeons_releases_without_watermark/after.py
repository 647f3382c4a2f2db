import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RELEASES = "pigeon string, loft string, released timestamp"
ARRIVALS = "ring string, gate string, arrived timestamp"
FLIGHT = "ring = pigeon AND arrived BETWEEN released AND released + INTERVAL 4 HOURS"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    releases = spark.readStream.schema(RELEASES).json(f"{LAKE}/pigeon_releases")
    arrivals = spark.readStream.schema(ARRIVALS).json(f"{LAKE}/pigeon_arrivals").withWatermark("arrived", "30 minutes")
    flights = releases.join(arrivals, F.expr(FLIGHT)).where("loft IS NOT NULL")
    minutes = F.expr("timestampdiff(MINUTE, released, arrived)")
    lofts = flights.groupBy(F.window("arrived", "1 hour"), "loft").agg(
        F.min(minutes).alias("fastest"), F.max_by("gate", "arrived").alias("gate"), F.count("*").alias("pigeons")
    )
    return lofts.writeStream.outputMode("append").foreachBatch(publish)
