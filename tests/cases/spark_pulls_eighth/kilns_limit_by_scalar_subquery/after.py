import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "kiln string, burner int, celsius double, measured timestamp"
HOT = """
    SELECT kiln, burner, celsius, measured
    FROM temperatures
    WHERE celsius > (SELECT 0.9 * max(celsius) FROM limits)
"""
PEAKS = """
    SELECT window.start AS hour, kiln, count(*) AS n, max(celsius) AS highest
    FROM hot
    GROUP BY window(measured, '1 hour'), kiln
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.read.schema("kiln string, celsius double").json(f"{LAKE}/kiln_limits").createOrReplaceTempView("limits")
    temperatures = spark.readStream.schema(SCHEMA).json(f"{LAKE}/kiln_temperatures")
    temperatures.withWatermark("measured", "10 minutes").createOrReplaceTempView("temperatures")
    hot = spark.sql(HOT).dropDuplicatesWithinWatermark(["kiln", "burner", "measured"])
    hot.createOrReplaceTempView("hot")
    return spark.sql(PEAKS).writeStream.outputMode("append").foreachBatch(publish)
