"""The code of a team's query and of its next versions: each order once, by its id."""

JOBS = """
from pyspark.sql import functions as F

def query(spark, extra=(), amount=F.col, topic="{sink}", dropped=()):
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "{broker}")
    source = source.option("subscribe", "{topic}").option("startingOffsets", "earliest").load()
    value = F.from_json(F.col("value").cast("string"), "id string, city string, amount long")
    orders = source.select(value.alias("v")).select("v.*").dropDuplicates(["id"])
    columns = ["id", "city", amount("amount").alias("amount"), *extra]
    rows = orders.select(*columns).drop(*dropped)
    out = rows.select(F.col("id").alias("key"), F.to_json(F.struct("*")).alias("value"))
    writer = out.writeStream.format("kafka").option("kafka.bootstrap.servers", "{broker}")
    writer = writer.option("topic", topic).outputMode("append")
    return writer.option("checkpointLocation", "{folder}/checkpoint").trigger(
        processingTime="4 seconds")

def first(spark):
    return query(spark)

def second(spark):
    return query(spark, extra=[F.lit("second").alias("by")])

def wrong(spark):
    return query(spark, amount=lambda name: F.col(name) + F.when(F.col("city") == "c3", 1)
                 .otherwise(0))

def smaller(spark):
    return query(spark, dropped=("city",))

def elsewhere(spark):
    return query(spark, topic="{sink}-other")
"""
