import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

def logs(spark):
    return spark.readStream.text(f"{LAKE}/logs")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    fields = logs(spark).where("value like '2026%'").withColumn("part", F.split("value", " ")).select(
        F.col("part")[1].alias("level"),
        F.col("part")[2].alias("service"),
        F.expr("int(replace(replace(part[4], 'took='), 'ms'))").alias("ms"),
    )
    stats = fields.groupBy("service", "level").agg(F.count("*").alias("n"), F.avg("ms").alias("avg_ms"))
    return stats.writeStream.outputMode("update").foreachBatch(publish)
