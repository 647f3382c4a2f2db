import os

LAKE = os.environ.get("LAKE", "/lake")
APPOINTMENTS = "appointment string, dentist string, patient string, state string, minutes int, at timestamp"
VISITS = "visit_of string, chair int, seconds int, began timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.readStream.schema(APPOINTMENTS).json(f"{LAKE}/appointments").withWatermark("at", "20 minutes").createOrReplaceTempView("appointments")
    spark.readStream.schema(VISITS).json(f"{LAKE}/visits").withWatermark("began", "20 minutes").createOrReplaceTempView("visits")
    spark.sql("SELECT appointment, dentist, at FROM appointments WHERE state IN ('booked', 'moved')").createOrReplaceTempView("booked")
    waits = spark.sql("""
        SELECT b.dentist, b.appointment, v.chair, unix_timestamp(v.began) - unix_timestamp(b.at) AS waited
        FROM booked b JOIN visits v
        ON b.appointment = v.visit_of AND v.began BETWEEN b.at - INTERVAL 10 MINUTES AND b.at + INTERVAL 90 MINUTES
    """)
    return waits.writeStream.outputMode("append").foreachBatch(publish)
