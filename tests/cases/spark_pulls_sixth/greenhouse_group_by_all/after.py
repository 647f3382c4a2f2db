import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bay string, probe string, crop string, celsius decimal(5,2), humidity int, measured timestamp"
HALF_HOURS = """
    SELECT window(measured, '30 minutes') AS half_hour, bay, upper(crop) AS crop,
           max(celsius) AS warmest, min(celsius) AS coldest,
           max(celsius) - min(celsius) AS swing, avg(humidity) AS humidity
    FROM readings
    GROUP BY ALL
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/readings")
        .withWatermark("measured", "20 minutes")
        .dropDuplicatesWithinWatermark(["probe", "measured"])
    )
    readings.createOrReplaceTempView("readings")
    half_hours = spark.sql(HALF_HOURS).selectExpr("half_hour.start", "bay", "crop", "warmest", "swing", "humidity")
    return half_hours.writeStream.outputMode("append").foreachBatch(publish)
