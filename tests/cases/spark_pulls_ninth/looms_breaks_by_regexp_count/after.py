import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "loom string, shed string, log string, woven timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    logs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/loom_logs").withWatermark("woven", "10 minutes")
    breaks = logs.withColumn("breaks", F.regexp_count("log", F.lit("B:[a-z]")))
    looms = breaks.groupBy(F.window("woven", "15 minutes"), "shed", "loom").agg(F.sum("breaks").alias("breaks"))
    sheds = looms.groupBy(F.window(F.window_time("window"), "1 hour"), "shed").agg(
        F.max("breaks").alias("most"), F.sum("breaks").alias("breaks"), F.count_if(F.col("breaks") > 2).alias("poor")
    )
    return sheds.writeStream.outputMode("append").foreachBatch(publish)
