import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, market string, department string, price decimal(10,2), quantity int, scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/supermarket_scans").withWatermark("scanned", "15 minutes")
    sales = scans.selectExpr(
        "market",
        "department",
        "scanned",
        "cast(price * quantity AS double) AS sales",
    )
    return (
        sales.groupBy("market", "department")
        .agg({"sales": "sum"})
        .withColumnRenamed("sum(sales)", "sales")
        .writeStream.outputMode("update")
        .foreachBatch(publish)
    )
