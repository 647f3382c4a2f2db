import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "light string, character string, period double, flashed timestamp"
HOURS = """
SELECT window.start AS hour, light, count(*) AS flashes, max(period) AS longest, try_avg(period) AS mean
FROM {view}
GROUP BY window(flashed, '{length}'), light
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    flashes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/flashes_of_lights").withWatermark("flashed", "20 minutes")
    once = flashes.dropDuplicatesWithinWatermark(["light", "flashed"])
    once.createOrReplaceTempView("flashes_once")
    hours = spark.sql(HOURS.format(view="flashes_once", length="1 hour"))
    return hours.writeStream.outputMode("append").foreachBatch(publish)
