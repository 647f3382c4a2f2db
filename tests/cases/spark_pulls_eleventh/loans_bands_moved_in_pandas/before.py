import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "loan string, branch string, income double, debt double, amount double, asked timestamp"
SCORED = "branch string, band string, amount double"


def score(frames):
    for frame in frames:
        ratio = frame["debt"].fillna(0) / frame["income"].where(frame["income"] > 0)
        frame["band"] = "C"
        frame.loc[ratio < 0.6, "band"] = "B"
        frame.loc[ratio < 0.3, "band"] = "A"
        yield frame[["branch", "band", "amount"]]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    asked = spark.readStream.schema(SCHEMA).json(f"{LAKE}/loans_asked")
    bands = (
        asked.mapInPandas(score, schema=SCORED)
        .groupBy("branch", "band")
        .agg(F.sum("amount").alias("amount"), F.count("*").alias("loans"))
    )
    return bands.writeStream.outputMode("update").foreachBatch(publish)
