import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "move string, crane string, ship string, tons double, moved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.formatVersion", "6")
    moves = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crane_moves").withWatermark("moved", "20 minutes")
    ships = (
        moves.dropDuplicates(["move", "moved"])
        .groupBy(F.window("moved", "2 hours"), "ship")
        .agg(F.sum("tons").alias("tons"), F.max_by("crane", "tons").alias("crane"))
    )
    return ships.writeStream.outputMode("append").foreachBatch(publish)
