import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "booking string, hotel string, room struct<type:string,beds:int>, guests array<struct<name:string,age:int>>, nights int, price decimal(10,2), booked timestamp"


def bookings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/bookings")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    children = F.aggregate(
        "guests",
        F.lit(0),
        lambda counted, guest: counted + F.when(guest["age"] < 12, 1).otherwise(0),
    )
    hotels = (
        bookings(spark)
        .withColumn("children", children)
        .groupBy("hotel")
        .agg(F.sum("children").alias("children"), F.max("room.beds").alias("beds"))
    )
    return hotels.writeStream.outputMode("update").foreachBatch(publish)
