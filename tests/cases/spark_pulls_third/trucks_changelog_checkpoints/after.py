import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "vin string, driver string, speed double, odometer long, cargo map<string,double>, at timestamp"


def trucks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trucks")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    fleet = trucks(spark).groupBy("vin").agg(
        F.max("odometer").alias("odometer"), F.avg("speed").alias("speed")
    )
    return fleet.writeStream.outputMode("update").foreachBatch(publish)
