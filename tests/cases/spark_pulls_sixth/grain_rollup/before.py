import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "load string, silo string, crop string, kg int, weighed timestamp"
SUMS = "SELECT silo, crop, sum(kg) AS kg, count(*) AS loads FROM loads GROUP BY silo, crop"


def build(spark):
    loads = spark.readStream.schema(SCHEMA).json(f"{LAKE}/grain_loads").where("silo IS NOT NULL AND crop IS NOT NULL")
    loads.createOrReplaceTempView("loads")
    return spark.sql(SUMS).writeStream.format("noop").outputMode("complete")
