import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")


def build(spark):
    lines = spark.readStream.text(f"{LAKE}/logs")
    parts = lines.select(
        F.regexp_extract("value", r"^(\S+Z) ", 1).alias("at"),
        F.regexp_extract("value", r"Z (\w+) ", 1).alias("level"),
        F.regexp_extract("value", r"Z \w+ (\w+) ", 1).alias("service"),
        F.regexp_extract("value", r"took=(\d+)ms", 1).alias("ms"),
    )
    slow = parts.where("level in ('ERROR', 'WARN')").where("ms <> ''").where("cast(ms as int) > 90")
    counts = slow.groupBy("service", "level").count()
    return counts.writeStream.outputMode("update").format("console")
