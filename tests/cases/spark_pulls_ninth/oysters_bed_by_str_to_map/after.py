import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "basket string, tags string, kilos double, lifted timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    baskets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/lifted_baskets").withWatermark("lifted", "30 minutes")
    bed = F.try_element_at(F.str_to_map("tags", F.lit(";"), F.lit("=")), F.lit("bed"))
    tagged = baskets.select("basket", bed.alias("bed"), "kilos", "lifted")
    once = tagged.dropDuplicatesWithinWatermark(["basket", "bed"])
    beds = once.groupBy("bed", F.session_window("lifted", "25 minutes")).agg(
        F.sum("kilos").alias("kilos"), F.count("*").alias("baskets")
    )
    return beds.writeStream.outputMode("append").foreachBatch(publish)
