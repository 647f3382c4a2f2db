import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "wheel string, sort string, cellar string, grams long, weighed timestamp"
SHELVES = """
    SELECT wheel, weighed, grams / 1000 AS kilos, concat_ws('/', cellar, kind) AS shelf
    FROM (SELECT *, lower(trim(sort)) AS kind FROM wheels)
"""
SUMS = """
    SELECT window(weighed, '1 hour').start AS hour, shelf, count(*) AS wheels, sum(kilos) AS kilos, max(wheel) AS wheel
    FROM shelves
    GROUP BY window(weighed, '1 hour'), shelf
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    wheels = spark.readStream.schema(SCHEMA).json(f"{LAKE}/cheese_wheels").withWatermark("weighed", "10 minutes")
    wheels.dropDuplicatesWithinWatermark(["wheel"]).createOrReplaceTempView("wheels")
    spark.sql(SHELVES).createOrReplaceTempView("shelves")
    return spark.sql(SUMS).writeStream.outputMode("append").foreachBatch(publish)
