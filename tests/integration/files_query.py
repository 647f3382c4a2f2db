"""A query for the tests: every value of a topic once, as JSON files; it keeps what it has seen."""

import sys

from pyspark.sql import SparkSession

from headgate.local.jars import spark_jars

bootstrap, topic, checkpoint, out = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(map(str, spark_jars())))
    .config("spark.driver.memory", "512m")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    .config("spark.sql.shuffle.partitions", "2")
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
    .selectExpr("CAST(value AS STRING) AS value")
    .dropDuplicates(["value"])
    .writeStream.format("json")
    .option("path", out)
    .option("checkpointLocation", checkpoint)
    .trigger(processingTime="500 milliseconds")
    .start()
    .awaitTermination()
)
