import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, section string, headline string, tags array<string>, words int, ts timestamp"


def articles(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/articles")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    articles(spark).createOrReplaceTempView("articles")
    tags = spark.sql("""
        SELECT tag, count(*) AS articles, sum(words) AS words
        FROM articles LATERAL VIEW explode(tags) exploded AS tag
        GROUP BY tag
    """)
    return tags.writeStream.outputMode("update").foreachBatch(publish)
