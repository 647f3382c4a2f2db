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
    donation = donations(spark).withWatermark("drawn", "1 hour").alias("d")
    use = uses(spark).withWatermark("used", "30 minutes").alias("u")
    soon = F.col("u.used").between(F.col("d.drawn"), F.col("d.drawn") + F.expr("INTERVAL 2 HOURS"))
    given = donation.join(use, (F.col("d.unit") == F.col("u.unit")) & soon).select(
        "d.unit", "blood", "ml", "clinic", "drawn", "used"
    )
    return given.writeStream.outputMode("append").foreachBatch(publish)
