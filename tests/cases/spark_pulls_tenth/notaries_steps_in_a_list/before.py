import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "deed string, notary string, client string, pages int, signed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    signed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/signed_deeds")
    sittings = (
        signed.withColumn("notary", F.initcap(F.trim("notary")))
        .where("pages > 0")
        .withWatermark("signed", "25 minutes")
        .dropDuplicatesWithinWatermark(["deed"])
        .groupBy(F.session_window("signed", "20 minutes").alias("sitting"), "notary")
        .agg(F.count("*").alias("deeds"), F.sum("pages").alias("pages"), F.collect_set("client").alias("clients"))
        .withColumn("clients", F.sort_array("clients"))
        .withColumn("minutes", F.expr("timestampdiff(MINUTE, sitting.start, sitting.end)"))
    )
    return sittings.writeStream.outputMode("append").foreachBatch(publish)
