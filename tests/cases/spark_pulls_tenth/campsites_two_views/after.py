import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "meter string, site string, kwh double, read timestamp"
SITES = "site string, closed boolean"
QUARTERS = """
    SELECT window(read, '15 minutes') AS quarter, site, sum(kwh) AS kwh
    FROM used LEFT ANTI JOIN (SELECT site FROM sites WHERE closed) closed USING (site)
    GROUP BY 1, site
"""
HOURS = """
    SELECT window(window_time(quarter), '1 hour') AS hour, site, max(kwh) AS peak, count(*) AS quarters
    FROM quarters
    WHERE kwh > 0
    GROUP BY ALL
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.read.schema(SITES).json(f"{LAKE}/tables/sites").createOrReplaceTempView("sites")
    used = spark.readStream.schema(SCHEMA).json(f"{LAKE}/meters_of_sites").withWatermark("read", "15 minutes")
    used.createOrReplaceTempView("used")
    spark.sql(QUARTERS).createOrReplaceTempView("quarters")
    hours = spark.sql(HOURS)
    return (
        hours.selectExpr("hour.start", "site", "peak", "quarters")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
