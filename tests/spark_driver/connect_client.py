"""A Connect client that watches its query: `connect_client.py PORT FOLDER`; it just ends."""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import headgate

port, home = sys.argv[1:]
spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
watch = headgate.watch(spark, f"{home}/watch")
assert headgate.watch(spark, f"{home}/watch") is watch
assert watch.problem is None, watch.problem
rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
counts = rows.groupBy((rows.value % 3).alias("k")).count()
writer = counts.writeStream.format("noop").queryName("remote").outputMode("update")
query = writer.option("checkpointLocation", f"{home}/checkpoint").start()
while not any(p.numInputRows for p in query.recentProgress):
    query.awaitTermination(1)
query.awaitTermination(5)
query.stop()
# The server reports the end a moment later, and more than that on a busy machine.
deadline = time.monotonic() + 300
while time.monotonic() < deadline and not any(
    '"terminated"' in file.read_text() for file in Path(home, "watch").rglob("*.jsonl")
):
    time.sleep(0.1)
print("ends", flush=True)
