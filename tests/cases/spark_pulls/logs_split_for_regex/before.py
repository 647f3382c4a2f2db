import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

def logs(spark):
    return spark.readStream.text(f"{LAKE}/logs")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    fields = logs(spark).where("value like '2026%'").select(
        F.regexp_extract("value", r"^[^ ]+ ([^ ]+)", 1).alias("level"),
        F.regexp_extract("value", r"^[^ ]+ [^ ]+ ([^ ]+)", 1).alias("service"),
        F.regexp_extract("value", r"took=([0-9]+)ms", 1).cast("int").alias("ms"),
    )
    stats = fields.groupBy("service", "level").agg(F.count("*").alias("n"), F.avg("ms").alias("avg_ms"))
    return stats.writeStream.outputMode("update").foreachBatch(publish)
