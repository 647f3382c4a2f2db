import os

from pyspark.sql.functions import expr

LAKE = os.environ.get("LAKE", "/lake")
PICKUPS = "parcel_id string, courier string, depot string, weight_kg double, picked_up timestamp"
DELIVERIES = "parcel_id string, signed_by string, delivered timestamp"
# As in the catalogue of data: where, who, when.
PICKUP_COLUMNS = ["parcel_id", "depot", "courier", "picked_up"]


def build(spark):
    pickups = (
        spark.readStream.schema(PICKUPS)
        .json(f"{LAKE}/courier_pickups")
        .select(*PICKUP_COLUMNS)
        .withWatermark("picked_up", "20 minutes")
        .alias("p")
    )
    deliveries = (
        spark.readStream.schema(DELIVERIES)
        .json(f"{LAKE}/courier_deliveries")
        .withWatermark("delivered", "20 minutes")
        .alias("d")
    )
    on_time = pickups.join(
        deliveries,
        expr("""
            p.parcel_id = d.parcel_id
            AND d.delivered BETWEEN p.picked_up AND p.picked_up + INTERVAL 90 MINUTES
        """),
        "leftOuter",
    )
    result = on_time.select("p.parcel_id", "p.courier", "p.depot", "p.picked_up", "d.signed_by", "d.delivered")
    return result.writeStream.outputMode("append").format("json").option("path", f"{LAKE}/out/courier_times")
