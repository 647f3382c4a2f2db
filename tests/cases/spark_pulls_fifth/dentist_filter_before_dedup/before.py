import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "appointment string, dentist string, patient string, state string, minutes int, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def once(appointments):
    return appointments.dropDuplicates(["appointment"])


def done(appointments):
    return appointments.where(F.col("state") == "done")


def build(spark):
    appointments = spark.readStream.schema(SCHEMA).json(f"{LAKE}/appointments")
    invoiced = appointments.transform(once).transform(done)
    return invoiced.select("appointment", "patient", "dentist", "minutes").writeStream.foreachBatch(publish)
