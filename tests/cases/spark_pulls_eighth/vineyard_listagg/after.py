import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "reading string, vineyard string, parcel string, moisture double, read_at timestamp"
DRY = """
    SELECT window.end AS until, vineyard, min(moisture) AS driest,
        coalesce(listagg(parcel, ',') WITHIN GROUP (ORDER BY parcel), '') AS parcels
    FROM dry
    GROUP BY window(read_at, '30 minutes'), vineyard
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/soil_readings").withWatermark("read_at", "15 minutes")
    once = readings.dropDuplicatesWithinWatermark(["reading"])
    once.where("moisture < 0.25 AND vineyard > ''").createOrReplaceTempView("dry")
    return spark.sql(DRY).writeStream.outputMode("append").foreachBatch(publish)
