import os

LAKE = os.environ.get("LAKE", "/lake")
SLOW = 600
SCHEMA = "crossing string, post string, lane string, seconds int, crossed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    crossings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crossings").withWatermark("crossed", "20 minutes")
    crossings.dropDuplicatesWithinWatermark(["crossing"]).createOrReplaceTempView("crossings")
    spark.sql(f"DECLARE OR REPLACE VARIABLE slow_after INT DEFAULT {SLOW}")
    slow = spark.sql("""
        SELECT window(crossed, '45 minutes').start AS since, post, seconds > slow_after AS slow,
               count(*) AS crossings, max(seconds) AS longest
        FROM crossings
        WHERE lane IS NOT NULL
        GROUP BY window(crossed, '45 minutes'), post, seconds > slow_after
    """)
    return slow.writeStream.outputMode("append").foreachBatch(publish)
