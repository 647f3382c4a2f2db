import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def start(rows, name):
    return rows.writeStream.queryName(name).outputMode("append").foreachBatch(publish)


def build(spark):
    taken = spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals").withWatermark("taken", "45 minutes")
    seen = taken.where("card IS NOT NULL").dropDuplicates(["card", "bank"]).select("card", "bank", "taken")
    return start(seen, "cards_per_bank")
