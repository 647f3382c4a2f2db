import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sale_id string, shop string, isbn string, copies int, price double, sold_at timestamp"


def build(spark):
    (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/book_sales")
        .withWatermark("sold_at", "20 minutes")
        .createOrReplaceTempView("sales")
    )
    hourly = spark.sql("""
        SELECT
            shop,
            window.start AS hour,
            SUM(copies * price) AS revenue,
            COUNT(*) AS sales,
            MAX(price) AS dearest
        FROM sales
        WHERE copies > 0
        GROUP BY shop, window(sold_at, '1 hour')
    """)
    return hourly.writeStream.outputMode("append").format("console").option("truncate", "false")
