import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

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
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", "3")
    donation = donations(spark).withWatermark("drawn", "90 minutes")
    use = uses(spark).withWatermark("used", "30 minutes").withColumnsRenamed({"unit": "of"})
    waited = F.expr("unit = of AND used >= drawn AND used <= drawn + INTERVAL 100 MINUTES")
    given = donation.join(use, waited, "left_outer").select("unit", "ml", "clinic", "drawn", "used")
    return given.writeStream.outputMode("append").foreachBatch(publish)
