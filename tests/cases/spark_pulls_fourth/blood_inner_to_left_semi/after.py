import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "unit string, donor string, blood string, rh string, ml int, drawn timestamp"
USES = "unit string, clinic string, used timestamp"


def donations(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/donations")


def uses(spark):
    return spark.readStream.schema(USES).json(f"{LAKE}/uses")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    donation = donations(spark).withWatermark("drawn", "1 hour")
    use = uses(spark).withWatermark("used", "1 hour").withColumnRenamed("unit", "of")
    given = donation.join(use, F.expr("unit = of AND used BETWEEN drawn AND drawn + INTERVAL 2 HOURS"), "left_semi").select(
        "unit", "donor", "blood", "drawn"
    )
    return given.writeStream.outputMode("append").foreachBatch(publish)
