import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "visit string, salon string, service string, price decimal(7,2), ended timestamp"
TAKINGS = """
    SELECT day, salon, service, count(*) AS visits, sum(price) AS takings
    FROM visits
    GROUP BY GROUPING SETS ((day, salon, service), (day, salon), (day))
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/salon_visits").where("salon IS NOT NULL")
    once = visits.withWatermark("ended", "1 hour").dropDuplicatesWithinWatermark(["visit"])
    days = once.select(F.to_date("ended").alias("day"), "salon", "service", "price")
    days.createOrReplaceTempView("visits")
    return spark.sql(TAKINGS).writeStream.outputMode("update").foreachBatch(publish)
