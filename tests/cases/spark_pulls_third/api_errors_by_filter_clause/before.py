import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "request string, route string, method string, status int, ms int, at timestamp"


def requests(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/requests")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    requests(spark).createOrReplaceTempView("requests")
    routes = spark.sql("""
        SELECT route, count(*) AS requests,
               count(CASE WHEN status >= 500 THEN 1 END) AS errors,
               max(CASE WHEN status < 500 THEN ms END) AS slowest
        FROM requests
        GROUP BY route
    """)
    return routes.writeStream.outputMode("update").foreachBatch(publish)
