import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "charge string, station string, plug string, kwh decimal(9,3), cents long, idle int, done timestamp"


def charges(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/charges")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    charges(spark).createOrReplaceTempView("charges")
    stations = spark.sql("""
        SELECT station,
               count(*) AS charges,
               sum(kwh) AS kwh,
               sum(CASE WHEN plug = 'CCS' THEN cents ELSE 0 END) AS fast_cents,
               max(done) AS newest
        FROM charges
        WHERE kwh > 0
        GROUP BY station
    """)
    return stations.writeStream.outputMode("update").foreachBatch(publish)
