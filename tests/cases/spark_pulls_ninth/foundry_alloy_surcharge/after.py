import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "casting string, hall string, alloy string, kilos double, poured timestamp"
ALLOYS = "alloy string, price double, surcharge double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    alloys = spark.read.schema(ALLOYS).json(f"{LAKE}/alloys")
    poured = spark.readStream.schema(SCHEMA).json(f"{LAKE}/poured_castings").withWatermark("poured", "20 minutes")
    priced = poured.dropDuplicatesWithinWatermark(["casting"]).join(alloys, "alloy", "left")
    price = F.col("kilos") * F.coalesce("price", F.lit(2.0)) * (1 + F.coalesce("surcharge", F.lit(0.0)))
    halls = priced.groupBy(F.window("poured", "1 hour"), "hall").agg(
        F.sum(price).alias("price"), F.sum("kilos").alias("kilos"), F.max(price).alias("dearest")
    )
    return halls.writeStream.outputMode("append").foreachBatch(publish)
