import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, museum string, kind string, price decimal(8,2), groups array<string>, entered timestamp"


def admissions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/admissions")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    admissions(spark).withWatermark("entered", "20 minutes").createOrReplaceTempView("admissions")
    halves = spark.sql("""
        SELECT window.start AS start, kind, count(*) AS visitors, sum(price) AS takings
        FROM admissions
        WHERE museum IS NOT NULL
        GROUP BY window(entered, '30 minutes'), kind
        HAVING count(*) > 1
    """)
    return halves.writeStream.outputMode("append").foreachBatch(publish)
