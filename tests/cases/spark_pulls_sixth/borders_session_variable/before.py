import os

LAKE = os.environ.get("LAKE", "/lake")
SLOW = 600
SCHEMA = "crossing string, post string, lane string, seconds int, crossed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    crossings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crossings").withWatermark("crossed", "20 minutes")
    crossings.dropDuplicatesWithinWatermark(["crossing"]).createOrReplaceTempView("crossings")
    slow = spark.sql(f"""
        SELECT window(crossed, '45 minutes').start AS since, post, seconds > {SLOW} AS slow,
               count(*) AS crossings, max(seconds) AS longest
        FROM crossings
        WHERE lane IS NOT NULL
        GROUP BY window(crossed, '45 minutes'), post, seconds > {SLOW}
    """)
    return slow.writeStream.outputMode("append").foreachBatch(publish)
