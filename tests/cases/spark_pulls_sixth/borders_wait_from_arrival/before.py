import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ARRIVALS = "passport string, post string, arrived timestamp, queued timestamp"
STAMPS = "document string, officer string, stamped timestamp"


def waited(since):
    return (F.unix_timestamp("stamped") - F.unix_timestamp(since)).alias("waited")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    arrivals = spark.readStream.schema(ARRIVALS).json(f"{LAKE}/arrivals").withWatermark("arrived", "15 minutes")
    stamps = spark.readStream.schema(STAMPS).json(f"{LAKE}/stamps").withWatermark("stamped", "15 minutes")
    stamped = arrivals.join(
        stamps,
        F.expr("passport = document AND stamped BETWEEN arrived AND arrived + INTERVAL 40 MINUTES"),
        "left_outer",
    )
    waits = stamped.select("passport", "post", waited("queued"), "officer")
    return waits.writeStream.outputMode("append").foreachBatch(publish)
