import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "job string, printer string, material string, grams double, ended timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def jobs(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/jobs")


def build(spark):
    plastic = jobs(spark).where("material = 'PLA'").select("printer", (F.col("grams") * 0.02).alias("euros"))
    other = jobs(spark).where("material <> 'PLA'").select("printer", (F.col("grams") * 0.05).alias("euros"))
    costs = plastic.unionByName(other)
    printers = costs.groupBy("printer").agg(F.sum("euros").alias("euros"), F.count("*").alias("jobs"))
    return printers.writeStream.outputMode("update").foreachBatch(publish)
