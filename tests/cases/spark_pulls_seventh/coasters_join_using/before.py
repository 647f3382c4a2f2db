import os

LAKE = os.environ.get("LAKE", "/lake")
BOARDED = "pass_id string, ride string, seat int, boarded timestamp"
PHOTOS = "pass_id string, ride string, photo string, bought boolean, taken timestamp"
JOINED = """
    SELECT b.ride, b.seat, b.boarded, p.photo, p.bought
    FROM boarded AS b
    JOIN photos AS p
      ON b.pass_id = p.pass_id
     AND b.ride = p.ride
     AND p.taken BETWEEN b.boarded AND b.boarded + INTERVAL 20 MINUTES
"""
HOURS = """
    SELECT window(boarded, '1 hour') AS hour, ride,
           count(photo) AS photos, count_if(bought) AS bought, max(seat) AS seat
    FROM joined
    GROUP BY 1, 2
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    boarded = spark.readStream.schema(BOARDED).json(f"{LAKE}/boarded")
    photos = spark.readStream.schema(PHOTOS).json(f"{LAKE}/photos")
    boarded.withWatermark("boarded", "15 minutes").createOrReplaceTempView("boarded")
    photos.withWatermark("taken", "15 minutes").createOrReplaceTempView("photos")
    spark.sql(JOINED).createOrReplaceTempView("joined")
    return spark.sql(HOURS).writeStream.outputMode("append").foreachBatch(publish)
