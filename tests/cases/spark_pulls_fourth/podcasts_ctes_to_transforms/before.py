import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "download string, show string, episode int, agent string, bytes long, country string, loaded timestamp"


def downloads(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/downloads")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    downloads(spark).withWatermark("loaded", "1 hour").createOrReplaceTempView("downloads")
    plays = spark.sql("""
        WITH known AS (
            SELECT show, bytes, loaded FROM downloads WHERE agent IS NOT NULL AND agent NOT LIKE '%bot%'
        ), judged AS (
            SELECT *, bytes > 1000000 AS complete FROM known
        )
        SELECT show, window.start AS start, count_if(complete) AS plays, sum(bytes) AS bytes
        FROM judged
        GROUP BY show, window(loaded, '15 minutes')
    """)
    return plays.writeStream.outputMode("update").foreachBatch(publish)
