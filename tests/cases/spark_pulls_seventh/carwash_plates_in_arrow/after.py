import os

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "plate string, site string, programme string, price double, washed timestamp"


def cleaned(batches):
    for batch in batches:
        plates = pc.utf8_upper(pc.replace_substring(batch.column("plate"), " ", ""))
        yield pa.RecordBatch.from_arrays([plates, *batch.columns[1:]], names=batch.schema.names)


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    washes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/plates").mapInArrow(cleaned, SCHEMA)
    cars = washes.where("plate IS NOT NULL").groupBy("plate").agg(
        F.count("*").alias("washes"),
        F.sum("price").alias("price"),
        F.max_by("programme", "washed").alias("programme"),
    )
    return cars.writeStream.outputMode("update").foreachBatch(publish)
