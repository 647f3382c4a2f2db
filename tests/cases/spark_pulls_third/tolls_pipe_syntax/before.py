import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "gate string, plate string, class string, fee decimal(6,2), passed timestamp"


def passages(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/passages")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


QUERY = """
    SELECT gate, class, sum(fee) AS fees, count(*) AS passages
    FROM passages
    WHERE fee > 0
    GROUP BY gate, class
"""


def build(spark):
    passages(spark).createOrReplaceTempView("passages")
    return spark.sql(QUERY).writeStream.outputMode("update").foreachBatch(publish)
