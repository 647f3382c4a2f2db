import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "visit string, clinic string, species string, cents int, came timestamp"


def with_sort(spark, visits):
    return visits.withColumn(
        "sort",
        F.when(F.col("species").isin("cat", "dog"), "pet")
        .when(F.col("species").isin("cow", "pig", "hen"), "farm")
        .otherwise("other"),
    )


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/vet_visits").withWatermark("came", "20 minutes")
    sorts = (
        with_sort(spark, visits.dropDuplicates(["visit", "came"]))
        .groupBy(F.window("came", "1 hour"), "clinic", "sort")
        .agg(F.count("*").alias("visits"), F.sum("cents").alias("cents"))
    )
    return sorts.writeStream.outputMode("append").foreachBatch(publish)
