import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ALTERED = "ticket string, tailor string, kind string, price decimal(8,2), discount decimal(8,2), altered timestamp"
PAID = "sum(price - coalesce(discount, 0)) AS paid"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    altered = spark.readStream.schema(ALTERED).json(f"{LAKE}/altered_clothes").withWatermark("altered", "45 minutes")
    once = altered.dropDuplicatesWithinWatermark(["ticket"])
    tailors = once.groupBy(F.window("altered", "90 minutes"), "tailor").agg(
        F.expr(PAID), F.expr("count_if(discount > 0) AS reduced"), F.expr("max(price) AS dearest")
    )
    return tailors.writeStream.outputMode("append").foreachBatch(publish)
