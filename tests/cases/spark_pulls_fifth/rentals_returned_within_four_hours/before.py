import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RENTALS = "rental string, tool string, member string, deposit int, taken timestamp"
RETURNS = "returned_rental string, damaged boolean, returned timestamp"
AT_MOST = "INTERVAL 2 HOURS"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rentals = spark.readStream.schema(RENTALS).json(f"{LAKE}/rentals").withWatermark("taken", "10 minutes")
    returns = spark.readStream.schema(RETURNS).json(f"{LAKE}/returns").withWatermark("returned", "10 minutes")
    closed = rentals.join(
        returns,
        F.expr(f"rental = returned_rental AND returned >= taken AND returned <= taken + {AT_MOST}"),
        "left_outer",
    )
    due = closed.select("rental", "member", "taken", "returned", F.when(F.col("damaged"), 0).otherwise(F.col("deposit")).alias("due"))
    return due.writeStream.outputMode("append").foreachBatch(publish)
