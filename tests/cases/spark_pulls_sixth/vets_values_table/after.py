import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "visit string, clinic string, species string, cents int, came timestamp"
SORTS = """
    SELECT * FROM VALUES ('cat', 'pet'), ('dog', 'pet'), ('cow', 'farm'), ('pig', 'farm'), ('hen', 'farm')
    AS sorts(species, sort)
"""


def with_sort(spark, visits):
    sorts = spark.sql(SORTS)
    named = visits.join(F.broadcast(sorts), "species", "left")
    return named.withColumn("sort", F.coalesce("sort", F.lit("other")))


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
