import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"
HOME = ["DE", "FR"]
LARGE = 10000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taken = spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals").withWatermark("taken", "30 minutes")
    foreign = (
        taken.filter(~F.col("country").isin(HOME) | (F.col("cents") >= LARGE))
        .groupBy(F.window("taken", "20 minutes"), F.col("atm"))
        .agg(F.sum("cents").alias("cents"), F.count("card").alias("withdrawals"))
        .select("window.start", "atm", "cents", "withdrawals")
    )
    return foreign.writeStream.outputMode("append").foreachBatch(publish)
