import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "message string, sender string, recipients array<string>, subject string, size int, headers map<string,string>, sent timestamp"


def mails(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/mails")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OWN = ("@ours.example", "@lab.ours.example")


@F.udf("string")
def direction(sender):
    """Say whether a mail comes from us."""
    if sender is None or "@" not in sender:
        return "system"
    return "internal" if sender.endswith(OWN) else "external"


def build(spark):
    directions = (
        mails(spark)
        .groupBy(direction("sender").alias("direction"))
        .agg(F.count("*").alias("mails"), F.max("size").alias("largest"))
    )
    return directions.writeStream.outputMode("update").foreachBatch(publish)
