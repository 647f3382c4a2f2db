import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "move string, container string, crane string, operator string, tons double, moved timestamp"


def moves(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crane_moves")
    return read.withColumn("kg", F.col("tons") * 1000).withColumn("crane", F.upper(F.trim("crane")))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    containers = (
        moves(spark)
        .where("container IS NOT NULL")
        .groupBy("container", "crane")
        .agg(
            F.first("operator", ignorenulls=True).alias("operator"),
            F.max("kg").alias("heaviest"),
            F.count("operator").alias("moves"),
        )
    )
    return containers.writeStream.outputMode("update").foreachBatch(publish)
