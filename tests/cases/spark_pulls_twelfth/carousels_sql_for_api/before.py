import os

from pyspark.sql.functions import avg, col, count, max, window

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bag string, belt string, flight string, kg double, scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bags = spark.readStream.schema(SCHEMA).json(f"{LAKE}/baggage_scans")
    belts = (
        bags.where(col("belt").isNotNull())
        .withWatermark("scanned", "10 minutes")
        .groupBy(window("scanned", "20 minutes"), "belt")
        .agg(
            count("*").alias("bags"),
            avg("kg").alias("mean_kg"),
            max("kg").alias("heaviest"),
        )
        .select(
            col("window.start").alias("since"),
            "belt",
            "bags",
            "heaviest",
            "mean_kg",
        )
    )
    return belts.writeStream.outputMode("append").foreachBatch(publish)
