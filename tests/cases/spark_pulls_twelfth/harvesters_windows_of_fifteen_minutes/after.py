import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "harvester string, field string, litres double, bushels double, sent timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sent = spark.readStream.schema(SCHEMA).json(f"{LAKE}/harvesters")
    sent.withWatermark("sent", "10 minutes").createOrReplaceTempView("sent")
    fuel = spark.sql("""
        SELECT
            window.start AS since,
            window.end AS until,
            field,
            sum(litres) AS litres,
            sum(bushels) AS bushels,
            count(*) AS messages
        FROM sent
        WHERE field IS NOT NULL
        GROUP BY window(sent, '15 minutes'), field
    """)
    return fuel.writeStream.outputMode("append").foreachBatch(publish)
