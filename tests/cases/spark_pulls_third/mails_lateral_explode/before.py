import os

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "message string, sender string, recipients array<string>, subject string, size int, headers map<string,string>, sent timestamp"


def mails(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/mails")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    mails(spark).createOrReplaceTempView("mails")
    inboxes = spark.sql("""
        SELECT recipient, count(*) AS mails, sum(size) AS size
        FROM (SELECT explode(recipients) AS recipient, size FROM mails)
        GROUP BY recipient
    """)
    return inboxes.writeStream.outputMode("update").foreachBatch(publish)
