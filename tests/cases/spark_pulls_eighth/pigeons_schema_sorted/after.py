import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RELEASES = "loft string, pigeon string, race string, released timestamp"
ARRIVALS = "gate string, loft string, pigeon string, race string, seen timestamp"
NEAR = "a.pigeon = r.pigeon AND a.race = r.race AND seen BETWEEN released AND released + INTERVAL 3 HOURS"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    releases = spark.readStream.schema(RELEASES).json(f"{LAKE}/released_pigeons").withWatermark("released", "1 hour")
    arrivals = spark.readStream.schema(ARRIVALS).json(f"{LAKE}/arrived_pigeons").withWatermark("seen", "30 minutes")
    astray = F.expr("a.loft <> r.loft")
    home = releases.alias("r").join(arrivals.alias("a"), F.expr(NEAR))
    lofts = home.groupBy(F.window("seen", "1 hour"), F.col("a.loft").alias("loft")).agg(
        F.count("*").alias("pigeons"), F.max("gate").alias("gate"), F.count_if(astray).alias("astray")
    )
    return lofts.writeStream.outputMode("append").foreachBatch(publish)
