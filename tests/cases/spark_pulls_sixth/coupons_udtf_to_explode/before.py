import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, shop string, codes string, paid timestamp"
CODES = """
    SELECT r.shop, c.code, r.receipt
    FROM receipts r, LATERAL codes_of(r.codes) AS c
"""


@F.udtf(returnType="code string")
class CodesOf:
    """The codes of a receipt, cleaned."""

    def eval(self, text: str):
        for code in (text or "").split(","):
            if code.strip():
                yield (code.strip().upper(),)


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.udtf.register("codes_of", CodesOf)
    receipts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/receipts").withWatermark("paid", "30 minutes")
    receipts.dropDuplicates(["receipt", "paid"]).createOrReplaceTempView("receipts")
    counted = spark.sql(CODES).groupBy("shop", "code").agg(F.count("*").alias("times"), F.max("receipt").alias("last"))
    return counted.writeStream.outputMode("update").foreachBatch(publish)
