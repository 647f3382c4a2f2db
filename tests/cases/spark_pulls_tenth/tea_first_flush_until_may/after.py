import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "basket string, garden string, kilos double, plucked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def season(plucked):
    first = F.date_format(plucked, "MM-dd") <= "05-15"
    second = F.date_format(plucked, "MM-dd") <= "06-30"
    return F.when(first, "first flush").when(second, "second flush").otherwise("autumnal")


def build(spark):
    baskets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/plucked_leaves").withWatermark("plucked", "30 minutes")
    once = baskets.dropDuplicatesWithinWatermark(["basket"])
    gardens = once.groupBy(F.window("plucked", "4 hours"), "garden", season("plucked").alias("season")).agg(
        F.sum("kilos").alias("kilos"), F.count("*").alias("baskets")
    )
    return gardens.writeStream.outputMode("append").foreachBatch(publish)
