import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
PLEDGES = "pledge string, appeal string, donor string, pledged timestamp"
PAYMENTS = "paid_pledge string, cents long, paid timestamp"
RANGE = "pledge = paid_pledge AND paid BETWEEN pledged AND pledged + INTERVAL 1 HOUR"


def thank(batch, batch_id):
    for row in batch.collect():
        print(f"thank {row.donor} for {row.cents} ({batch_id})")


def build(spark):
    pledges = spark.readStream.schema(PLEDGES).json(f"{LAKE}/pledges").withWatermark("pledged", "20 minutes")
    payments = spark.readStream.schema(PAYMENTS).json(f"{LAKE}/paid_pledges").withWatermark("paid", "20 minutes")
    kept = pledges.join(payments, F.expr(RANGE)).drop("paid").dropDuplicatesWithinWatermark(["pledge"])
    thanked = kept.select("donor", "appeal", "cents").writeStream.trigger(processingTime="1 minute")
    return thanked.outputMode("append").foreachBatch(thank)
