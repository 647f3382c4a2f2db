import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "plate string, site string, bay int, programme string, price double, member boolean, washed timestamp"
TAKINGS = """
    SELECT site, programme, count(*) AS washes, sum(price) AS price, max(washed) AS last
    FROM paid
    GROUP BY site, programme
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    washes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/takings")
    paid = washes.where("price > 0").withWatermark("washed", "1 hour")
    paid.dropDuplicates(["plate", "bay", "washed"]).createOrReplaceTempView("paid")
    return spark.sql(TAKINGS).writeStream.outputMode("update").foreachBatch(publish)
