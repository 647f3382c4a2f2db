import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "rink string, sheet int, ice_f double, air_f double, measured timestamp"


def celsius(fahrenheit):
    return (F.col(fahrenheit) - 32) * 5 / 9


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    measured = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/curling_ice")
        .select(
            F.concat("rink", F.lit("-"), "sheet").alias("sheet"),
            celsius("ice_f").alias("ice"),
            celsius("air_f").alias("air"),
            "measured",
        )
    )
    sheets = (
        measured.withWatermark("measured", "10 minutes")
        .groupBy(F.window("measured", "30 minutes"), "sheet")
        .agg(F.avg("ice").alias("ice"), F.max("air").alias("air"), F.count("*").alias("n"))
    )
    return sheets.writeStream.outputMode("update").foreachBatch(publish)
