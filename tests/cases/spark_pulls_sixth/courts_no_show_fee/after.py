import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, club string, court int, member string, state string, price decimal(6,2), slot timestamp"
FEES = """
    WITH owed AS (
        SELECT club, member,
               CASE state WHEN 'played' THEN price * 1.00 WHEN 'no_show' THEN price * 0.80 ELSE 0.00 END AS fee
        FROM bookings
        WHERE member IS NOT NULL
    )
    SELECT club, member, sum(fee) AS owed, count_if(fee > 0) AS paid, count(*) AS bookings
    FROM owed
    GROUP BY club, member
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/court_bookings").withWatermark("slot", "3 hours")
    bookings.dropDuplicates(["booking", "slot"]).createOrReplaceTempView("bookings")
    return spark.sql(FEES).writeStream.outputMode("update").foreachBatch(publish)
