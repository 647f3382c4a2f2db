import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "permit string, office string, body string, filed timestamp"
FIELDS = """
    SELECT permit, office, filed,
           get_json_object(body, '$.kind') AS kind,
           get_json_object(body, '$.district') AS district,
           get_json_object(body, '$.fee') AS fee
    FROM permits
"""
FEES = """
    SELECT district, kind, sum(cast(fee AS decimal(8,2))) AS fees, count(*) AS permits, max(filed) AS newest
    FROM fields GROUP BY district, kind
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    permits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/permits").where("office IS NOT NULL")
    permits.createOrReplaceTempView("permits")
    spark.sql(FIELDS).createOrReplaceTempView("fields")
    return spark.sql(FEES).writeStream.outputMode("complete").foreachBatch(publish)
