import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "query string, client string, name string, zone string, asked timestamp"
DOMAIN = r"[a-z0-9-]+\.[a-z]+$"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def domain(name):
    return F.regexp_extract(name, DOMAIN, 0)


def build(spark):
    queries = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dns_names").where("zone IS NOT NULL")
    once = queries.withWatermark("asked", "20 minutes").dropDuplicatesWithinWatermark(["query", "client"])
    domains = once.groupBy(F.window("asked", "1 hour"), domain(F.lower("name")).alias("domain")).agg(
        F.count("*").alias("queries"), F.max("name").alias("name")
    )
    return domains.writeStream.outputMode("append").foreachBatch(publish)
