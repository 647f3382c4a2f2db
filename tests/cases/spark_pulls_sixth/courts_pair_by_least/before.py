import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "match string, club string, player string, partner string, minutes int, began timestamp"


def with_pair(matches):
    return matches.withColumn("pair", F.concat_ws("-", F.array_sort(F.array("player", "partner"))))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    matches = spark.readStream.schema(SCHEMA).json(f"{LAKE}/matches").where("minutes > 0")
    pairs = (
        matches.transform(with_pair)
        .groupBy("club", "pair")
        .agg(F.count("*").alias("matches"), F.sum("minutes").alias("minutes"), F.max("began").alias("newest"))
    )
    return pairs.writeStream.outputMode("update").foreachBatch(publish)
