import os
from functools import reduce

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "deed string, notary string, client string, pages int, signed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def named(deeds):
    return deeds.withColumn("notary", F.initcap(F.trim("notary")))


def not_empty(deeds):
    return deeds.filter(F.col("pages") > 0)


def once(deeds):
    return deeds.withWatermark("signed", "25 minutes").dropDuplicatesWithinWatermark(["deed"])


def by_sitting(deeds):
    sitting = F.session_window("signed", "20 minutes").alias("sitting")
    measures = {"deeds": F.count("*"), "pages": F.sum("pages"), "clients": F.collect_set("client")}
    return deeds.groupBy(sitting, "notary").agg(*(measure.alias(name) for name, measure in measures.items()))


def shown(sittings):
    minutes = F.expr("timestampdiff(MINUTE, sitting.start, sitting.end)")
    return sittings.withColumns({"clients": F.sort_array("clients"), "minutes": minutes})


STEPS = [named, not_empty, once, by_sitting, shown]


def build(spark):
    signed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/signed_deeds")
    sittings = reduce(lambda deeds, step: deeds.transform(step), STEPS, signed)
    return sittings.writeStream.outputMode("append").foreachBatch(publish)
