import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "lot string, port string, species string, kilos double, price double, sold timestamp"
MARKET = """
    WITH lots AS (
        SELECT DISTINCT lot, port, species, kilos, price, sold
        FROM fish_lots WATERMARK sold DELAY OF INTERVAL 15 MINUTES
        WHERE kilos > 0
    )
    SELECT window.start AS begun, port, count(*) AS lots, sum(kilos * price) AS worth
    FROM lots
    GROUP BY window(sold, '30 minutes'), port
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    lots = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sold_lots")
    lots.createOrReplaceTempView("fish_lots")
    return spark.sql(MARKET).writeStream.outputMode("append").foreachBatch(publish)
