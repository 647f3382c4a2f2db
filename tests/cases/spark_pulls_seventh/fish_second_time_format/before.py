import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "lot string, port string, species string, kilos double, sold string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def sold_at(text):
    return F.try_to_timestamp(text)


def build(spark):
    lines = spark.readStream.schema(SCHEMA).options(header=True, sep=";").csv(f"{LAKE}/auction_csv")
    lots = lines.withColumn("sold", sold_at(F.col("sold"))).where("sold IS NOT NULL")
    hours = (
        lots.withWatermark("sold", "30 minutes")
        .dropDuplicates(["lot", "sold"])
        .groupBy(F.window("sold", "1 hour"), "port", "species")
        .agg(F.sum("kilos").alias("kilos"), F.max("lot").alias("lot"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
