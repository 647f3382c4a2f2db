import os

from pyspark.sql.functions import col, count, sum as sum_, udf

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "scout string, troop string, badge string, points int, awarded timestamp"


@udf("string")
def troop_name(raw):
    """The function that the members' page uses, so that both show the same names."""
    if raw is None:
        return None
    return " ".join(word.capitalize() for word in raw.split())


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    badges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scout_badges")
    troops = (
        badges.withColumn("troop", troop_name(col("troop")))
        .groupBy("troop")
        .agg(count("*").alias("badges"), sum_("points").alias("points"))
    )
    return troops.writeStream.outputMode("update").foreachBatch(publish)
