"""A Spark Connect server: `connect_server.py PORT FOLDER`, ends with its stdin."""

import sys

from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").appName("connect-server")
for key, value in {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": f"{sys.argv[2]}/warehouse",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": sys.argv[1],
    "spark.connect.grpc.binding.address": "127.0.0.1",
}.items():
    builder = builder.config(key, value)
builder.getOrCreate()
print("ready", flush=True)
sys.stdin.read()
