import os

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, shop string, game string, stake decimal(8,2), prize decimal(10,2), bought timestamp"
SHOPS = """
    SELECT * FROM (
        SELECT shop, game, count(*) AS tickets, sum(stake) AS stake, sum(prize) AS prizes
        FROM tickets
        GROUP BY shop, game
    )
    WHERE tickets >= 3 AND stake > 10
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    tickets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bought_tickets")
    tickets.dropDuplicates(["ticket"]).createOrReplaceTempView("tickets")
    return spark.sql(SHOPS).writeStream.outputMode("update").foreachBatch(publish)
