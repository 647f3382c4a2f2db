"""A small query for the tests: counts a topic's records by value, with a checkpoint."""

import sys

from pyspark.sql import SparkSession

from headgate.local.demo.run_query import spark_jars

bootstrap, topic, checkpoint = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(map(str, spark_jars())))
    .config("spark.driver.memory", "512m")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.ui.enabled", "false")
    # Compiling code for so few rows would cost more than it gives back.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .getOrCreate()
)
(
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("subscribe", topic)
    .option("startingOffsets", "earliest")
    .load()
    .groupBy("value")
    .count()
    .writeStream.format("noop")
    .outputMode("update")
    .option("checkpointLocation", checkpoint)
    .trigger(processingTime="1 second")
    .start()
    .awaitTermination()
)
