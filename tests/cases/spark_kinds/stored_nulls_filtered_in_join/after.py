import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ORDERS = "job string, customer string, lens string, frame string, ordered timestamp"
GROUND = "job string, machine string, ground timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def orders(spark):
    read = spark.readStream.schema(ORDERS).json(f"{LAKE}/lens_orders")
    return read.withWatermark("ordered", "30 minutes").select("job", "customer", "lens", "frame", "ordered").where("lens IS NOT NULL")


def ground(spark):
    read = spark.readStream.schema(GROUND).json(f"{LAKE}/ground_lenses")
    return read.withWatermark("ground", "30 minutes").withColumnRenamed("job", "ground_job")


def build(spark):
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    done = F.expr("job = ground_job AND ground BETWEEN ordered AND ordered + INTERVAL 2 HOURS")
    joined = orders(spark).join(ground(spark), done)
    return joined.drop("ground_job").writeStream.outputMode("append").foreachBatch(publish)
