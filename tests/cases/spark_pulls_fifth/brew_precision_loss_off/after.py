import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tank string, beer string, liters decimal(28,10), plato decimal(28,10), taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.decimalOperations.allowPrecisionLoss", "false")
    samples = spark.readStream.schema(SCHEMA).json(f"{LAKE}/samples").na.drop()
    points = samples.groupBy("tank").agg(
        F.max(F.col("liters") * F.col("plato")).alias("most_points"), F.count("*").alias("samples")
    )
    return points.writeStream.outputMode("update").foreachBatch(publish)
