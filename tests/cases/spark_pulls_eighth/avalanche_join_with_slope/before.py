import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BLASTS = "area string, slope string, kg double, fired timestamp"
SLIDES = "area string, slope string, size int, slid timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    blasts = spark.readStream.schema(BLASTS).json(f"{LAKE}/blasts").withWatermark("fired", "20 minutes").alias("b")
    slides = spark.readStream.schema(SLIDES).json(f"{LAKE}/slides").withWatermark("slid", "20 minutes").alias("s")
    same = F.col("b.area") == F.col("s.area")
    soon = F.expr("slid BETWEEN fired AND fired + INTERVAL 30 MINUTES")
    caused = blasts.join(slides, same & soon, "leftOuter")
    areas = caused.groupBy(F.window("fired", "2 hours"), "b.area").agg(
        F.count("*").alias("blasts"), F.count("slid").alias("slides"), F.max("size").alias("largest")
    )
    return areas.writeStream.outputMode("append").foreachBatch(publish)
