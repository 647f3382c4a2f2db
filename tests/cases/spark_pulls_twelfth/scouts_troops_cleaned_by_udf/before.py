import os

from pyspark.sql.functions import col, count, initcap, sum as sum_, trim

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "scout string, troop string, badge string, points int, awarded timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    badges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scout_badges")
    troops = (
        badges.withColumn("troop", initcap(trim(col("troop"))))
        .groupBy("troop")
        .agg(count("*").alias("badges"), sum_("points").alias("points"))
    )
    return troops.writeStream.outputMode("update").foreachBatch(publish)
