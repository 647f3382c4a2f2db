import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "game string, player string, opponent string, blunders int, moved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", 2)
    reviews = spark.readStream.schema(SCHEMA).json(f"{LAKE}/reviewed_games").where("player <> opponent")
    once = reviews.withWatermark("moved", "30 minutes").dropDuplicatesWithinWatermark(["game", "player"])
    players = once.groupBy(F.window("moved", "2 hours"), "player").agg(
        F.sum("blunders").alias("blunders"), F.count("*").alias("games"), F.min("blunders").alias("best")
    )
    return players.writeStream.outputMode("append").foreachBatch(publish)
