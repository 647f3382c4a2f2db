import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "appointment string, dentist string, patient string, state string, minutes int, at timestamp"


def save(batch, batch_id):
    batch.write.mode("overwrite").parquet(f"{LAKE}/out/missed/batch={batch_id}")


def build(spark):
    appointments = spark.readStream.schema(SCHEMA).json(f"{LAKE}/appointments")
    missed = appointments.where("state = 'missed'").select("appointment", "patient", F.to_date("at").alias("day"))
    return missed.writeStream.outputMode("append").foreachBatch(save)
