import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "well string, basin string, level_m double, pumped int, read_at timestamp"

QUERY = """
SELECT r.basin, window(r.read_at, '1 hour').start AS hour, sum(r.pumped) AS pumped, min(r.level_m) AS lowest
FROM readings r
JOIN wells w ON w.well = r.well AND w.in_use
GROUP BY r.basin, window(r.read_at, '1 hour')
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings").withWatermark("read_at", "20 minutes").createOrReplaceTempView("readings")
    spark.read.schema("well string, in_use boolean, depth int").json(f"{LAKE}/wells").createOrReplaceTempView("wells")
    return spark.sql(QUERY).writeStream.outputMode("append").foreachBatch(publish)
