import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, pool string, age int, minutes int, came timestamp"
SALT = "lido-7"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def pseudonym(*columns, salt=SALT):
    """Return a hash of these columns that says nothing of them."""
    return F.sha2(F.concat_ws("|", F.lit(salt), *columns), 256)


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/visits")
    guests = (
        visits.withColumn("guest", pseudonym("ticket"))
        .groupBy("guest", "pool")
        .agg(F.sum("minutes").alias("minutes"), F.count("*").alias("visits"))
    )
    return guests.writeStream.outputMode("update").foreachBatch(publish)
