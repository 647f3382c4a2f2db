import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "lantern string, street string, watt string, lux string, sent string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.readStream.schema(SCHEMA).json(f"{LAKE}/lanterns").createOrReplaceTempView("raw")
    lanterns = spark.sql("""
        SELECT
            street,
            TRY_CAST(watt AS DOUBLE) AS watt,
            TRY_CAST(lux AS INT) AS lux,
            TRY_CAST(sent AS TIMESTAMP) AS sent
        FROM raw
        WHERE street IS NOT NULL
    """)
    lanterns.createOrReplaceTempView("lanterns")
    streets = spark.sql("""
        SELECT street, sum(watt) AS watt, min(lux) AS darkest, max(sent) AS newest, count(*) AS messages
        FROM lanterns
        GROUP BY street
    """)
    return streets.writeStream.outputMode("update").foreachBatch(publish)
