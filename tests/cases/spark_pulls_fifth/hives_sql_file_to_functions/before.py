import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "hive string, apiary string, kg double, celsius double, measured timestamp"

# queries/gain_per_hive.sql
SQL = """
WITH known AS (
    SELECT hive, apiary, kg, measured FROM readings WHERE kg IS NOT NULL AND kg > 0
), per_hive AS (
    SELECT window(measured, '30 minutes') AS slot, apiary, hive,
           max(kg) - min(kg) AS gain, count(*) AS readings
    FROM known
    GROUP BY window(measured, '30 minutes'), apiary, hive
)
SELECT slot.start AS slot, apiary, hive, round(gain, 2) AS gain, readings FROM per_hive
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scales").withWatermark("measured", "15 minutes")
    readings.createOrReplaceTempView("readings")
    return spark.sql(SQL).writeStream.outputMode("append").foreachBatch(publish)
