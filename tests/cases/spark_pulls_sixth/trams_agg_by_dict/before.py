import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tram string, line string, halt string, boarded int, alighted int, on_board int, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    doors = spark.readStream.schema(SCHEMA).json(f"{LAKE}/doors").withWatermark("at", "20 minutes")
    lines = (
        doors.dropDuplicates(["tram", "at"])
        .groupBy("line")
        .agg({"boarded": "sum", "alighted": "sum", "on_board": "max"})
        .withColumnsRenamed({"sum(boarded)": "boarded", "sum(alighted)": "alighted", "max(on_board)": "fullest"})
        .select("line", "boarded", "alighted", "fullest")
    )
    return lines.writeStream.outputMode("update").foreachBatch(publish)
