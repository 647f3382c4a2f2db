import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
REPAIR = "repair_no int, shop string, work string, euros decimal(8,2), done timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    repairs = spark.readStream.schema(REPAIR).json(f"{LAKE}/shoe_repairs")
    shops = (
        repairs.filter(F.col("euros").isNotNull())
        .groupBy("shop")
        .agg(
            F.sum("euros").alias("euros"),
            F.count("repair_no").alias("repairs"),
            F.max("repair_no").alias("last_repair_no"),
        )
    )
    return shops.writeStream.outputMode("update").foreachBatch(publish)
