import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = """
    bus string,
    line string,
    stop string,
    delay_seconds int,
    sent timestamp
"""


def build(spark):
    positions = (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .json(f"{LAKE}/bus_positions")
        .withWatermark("sent", "1 hour")
        .dropDuplicates()
    )
    return positions.writeStream.outputMode("append").format("parquet").option("path", f"{LAKE}/out/bus_positions")
