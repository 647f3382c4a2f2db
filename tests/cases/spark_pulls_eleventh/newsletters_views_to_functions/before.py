import os

LAKE = os.environ.get("LAKE", "/lake")
OPENED = "mail string, reader string, list_id string, agent string, opened_at timestamp"
LISTS = "list_id string, title string, owner string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.readStream.schema(OPENED).json(f"{LAKE}/newsletter_opens").createOrReplaceTempView("opened")
    spark.read.schema(LISTS).json(f"{LAKE}/tables/lists").createOrReplaceTempView("lists")
    spark.sql("""
        SELECT * FROM opened
        WHERE lower(agent) NOT LIKE '%proxy%' OR agent IS NULL
    """).createOrReplaceTempView("opened_by_people")
    spark.sql("""
        SELECT o.*, coalesce(l.title, 'unknown') AS title, l.owner
        FROM opened_by_people o
        LEFT JOIN lists l ON o.list_id = l.list_id
    """).createOrReplaceTempView("with_titles")
    titles = spark.sql("""
        SELECT owner, title, count(*) AS opens, approx_count_distinct(reader) AS readers, max(opened_at) AS newest
        FROM with_titles
        GROUP BY owner, title
    """)
    return titles.writeStream.outputMode("update").foreachBatch(publish)
