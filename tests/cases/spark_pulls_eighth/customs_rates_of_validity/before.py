import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "declaration string, office string, code string, value decimal(12,2), declared timestamp"
RATES = "code string, rate decimal(4,3), valid_from date, valid_to date"
VALID = "d.code = r.code AND r.valid_to IS NULL"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rates = spark.read.schema(RATES).json(f"{LAKE}/duty_rates")
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/declared_goods").withWatermark("declared", "30 minutes")
    once = read.dropDuplicatesWithinWatermark(["declaration", "code"])
    dutiable = once.alias("d").join(F.broadcast(rates).alias("r"), F.expr(VALID), "left")
    offices = dutiable.groupBy(F.window("declared", "2 hours"), "office").agg(
        F.sum(F.expr("value * coalesce(rate, 0)")).alias("duty"), F.sum("value").alias("value"), F.count("*").alias("n")
    )
    return offices.writeStream.outputMode("append").foreachBatch(publish)
