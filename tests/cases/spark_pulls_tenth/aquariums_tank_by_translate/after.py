import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
FEEDINGS = "tank string, animal string, grams double, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def tank_code():
    return F.upper(F.translate("tank", "- ", ""))


def build(spark):
    fed = spark.readStream.schema(FEEDINGS).json(f"{LAKE}/feedings").withWatermark("fed", "30 minutes")
    tanks = (
        fed.withColumn("tank", tank_code())
        .where(F.col("grams").isNotNull())
        .groupBy(F.window("fed", "1 hour"), "tank")
        .agg(F.sum("grams").alias("grams"), F.count("*").alias("feedings"), F.max_by("animal", "grams").alias("greedy"))
    )
    return tanks.writeStream.queryName("tanks").outputMode("append").foreachBatch(publish)
