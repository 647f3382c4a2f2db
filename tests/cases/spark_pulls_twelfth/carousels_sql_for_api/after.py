import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bag string, belt string, flight string, kg double, scanned timestamp"
BELTS = """
    SELECT
        window.start AS since,
        belt,
        COUNT(*) AS bags,
        MAX(kg) AS heaviest,
        AVG(kg) AS mean_kg
    FROM bags
    WHERE belt IS NOT NULL
    GROUP BY window(scanned, '20 minutes'), belt
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bags = spark.readStream.schema(SCHEMA).json(f"{LAKE}/baggage_scans")
    bags.withWatermark("scanned", "10 minutes").createOrReplaceTempView("bags")
    return spark.sql(BELTS).writeStream.outputMode("append").foreachBatch(publish)
