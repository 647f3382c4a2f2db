import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tank string, beer string, liters decimal(8,2), plato decimal(4,2), taken timestamp"

DRAWN = """
SELECT
    CAST(taken AS DATE) AS brewing_day,
    beer,
    SUM(liters) AS liters,
    APPROX_COUNT_DISTINCT(tank) AS tanks
FROM samples
WHERE beer IS NOT NULL
GROUP BY 1, 2
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    samples = spark.readStream.schema(SCHEMA).json(f"{LAKE}/samples")
    samples.createOrReplaceTempView("samples")
    return spark.sql(DRAWN).writeStream.outputMode("update").foreachBatch(publish)
