import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"
HOME = ["DE", "FR"]
LARGE = 10000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taken = spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals").withWatermark("taken", "30 minutes")
    foreign = spark.sql(
        """
        SELECT window.start, atm, sum(cents) AS cents, count(card) AS withdrawals
        FROM {taken}
        WHERE NOT array_contains(:home, country) OR cents >= :large
        GROUP BY window(taken, '20 minutes'), atm
        """,
        args={"home": HOME, "large": LARGE},
        taken=taken,
    )
    return foreign.writeStream.outputMode("append").foreachBatch(publish)
