import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "boat string, notes string, landed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
    landed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/landed_oysters").withWatermark("landed", "20 minutes")
    noted = landed.dropDuplicatesWithinWatermark(["boat", "landed"]).withColumn("note", F.str_to_map("notes"))
    bed = F.try_element_at("note", F.lit("bed"))
    kilos = F.try_element_at("note", F.lit("kilos")).try_cast("double")
    beds = noted.groupBy(F.window("landed", "1 hour", "30 minutes"), bed.alias("bed")).agg(
        F.sum(kilos).alias("kilos"), F.count("*").alias("landings")
    )
    return beds.writeStream.outputMode("append").foreachBatch(publish)
