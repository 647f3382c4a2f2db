import os

from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType, TimestampType

LAKE = os.environ.get("LAKE", "/lake")
TRIP = StructType(
    [
        StructField("trip", StringType(), nullable=False),
        StructField("boat", StringType()),
        StructField("club", StringType()),
        StructField("metres", IntegerType()),
        StructField("landed", TimestampType()),
    ]
)


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    trips = spark.readStream.schema(TRIP).json(f"{LAKE}/rowing_trips")
    clubs = (
        trips.withColumns(
            {
                "club": F.coalesce("club", F.lit("guests")),
                "metres": F.coalesce("metres", F.lit(0)),
                "day": F.to_date("landed"),
            }
        )
        .groupBy("day", "club")
        .agg(F.sum("metres").alias("metres"), F.max("metres").alias("longest"), F.count("trip").alias("trips"))
    )
    return clubs.writeStream.outputMode("update").foreachBatch(publish)
