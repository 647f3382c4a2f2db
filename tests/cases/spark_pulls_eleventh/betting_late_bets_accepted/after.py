import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bet string, race string, horse string, stake double, placed timestamp"
ODDS = """
    SELECT window.end AS until, race, horse, sum(stake) AS stakes, count(1) AS bets
    FROM bets
    WHERE horse IS NOT NULL
    GROUP BY window(placed, '10 minutes'), race, horse
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bets")
    bets.withWatermark("placed", "30 minutes").createOrReplaceTempView("bets")
    return spark.sql(ODDS).writeStream.outputMode("append").foreachBatch(publish)
