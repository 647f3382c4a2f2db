import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "read string, lane string, bases int, quality double, read_at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def median(column):
    return F.kll_sketch_get_quantile_double(F.kll_sketch_agg_double(column), F.lit(0.5))


def build(spark):
    reads = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dna_reads").where("quality IS NOT NULL")
    once = reads.withWatermark("read_at", "15 minutes").dropDuplicatesWithinWatermark(["read"])
    lanes = once.groupBy(F.window("read_at", "1 hour"), "lane").agg(
        median("quality").alias("quality"), F.sum("bases").alias("bases"), F.count("*").alias("reads")
    )
    return lanes.writeStream.outputMode("append").foreachBatch(publish)
