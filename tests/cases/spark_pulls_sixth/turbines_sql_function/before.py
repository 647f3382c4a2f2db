import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "turbine string, farm string, wind double, kwh decimal(9,2), state string, sent timestamp"
BANDS = """
    SELECT farm,
           CASE WHEN wind < 4 THEN 'calm' WHEN wind < 12 THEN 'working' WHEN wind >= 12 THEN 'storm' END AS band,
           sum(kwh) AS kwh, count(*) AS messages
    FROM messages
    WHERE state <> 'maintenance' OR state IS NULL
    GROUP BY farm,
             CASE WHEN wind < 4 THEN 'calm' WHEN wind < 12 THEN 'working' WHEN wind >= 12 THEN 'storm' END
"""


def build(spark):
    messages = spark.readStream.schema(SCHEMA).json(f"{LAKE}/messages").withWatermark("sent", "30 minutes")
    messages.dropDuplicates(["turbine", "sent"]).createOrReplaceTempView("messages")
    return spark.sql(BANDS).writeStream.format("noop").outputMode("update")
