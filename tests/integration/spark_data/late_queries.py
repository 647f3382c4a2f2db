"""Functions over a year of orders: totals by customer, by hour, with views, and ones that fail."""

import os

from pyspark.sql import functions as f

ORDER = "id long, customer string, amount long, at timestamp"
VIEW = "customer string, page string, seen timestamp"


def source(spark, topic):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["LATE_BROKER"])
        .option("subscribe", os.environ[topic])
        .option("kafka.isolation.level", "read_committed")
        .load()
    )


def orders(spark):
    value = f.from_json(f.col("value").cast("string"), ORDER).alias("v")
    return source(spark, "LATE_ORDERS").select(value).select("v.*")


def by_customer(spark):
    """Totals of each customer, if they are more than 100."""
    totals = (
        orders(spark)
        .groupBy("customer")
        .agg(
            f.sum("amount").alias("total"), f.count("*").alias("orders"), f.max("at").alias("last")
        )
    )
    return totals.where("total > 100").writeStream.outputMode("update")


def daily(spark):
    """Totals of each customer and day."""
    days = orders(spark).withWatermark("at", "1 hour")
    days = days.groupBy(f.window("at", "1 day"), "customer")
    return days.agg(f.sum("amount").alias("total"), f.count("*").alias("orders")).writeStream


def sessions(spark):
    """Sessions of each customer: orders less than ten days apart."""
    rows = orders(spark).withWatermark("at", "1 hour").where("customer IS NOT NULL")
    found = rows.groupBy(f.session_window("at", "10 days"), "customer")
    return found.agg(f.sum("amount").alias("total"), f.count("*").alias("orders")).writeStream


def daily_begin(spark):
    """As daily, with the start of the day only, by SQL."""
    rows = orders(spark).withWatermark("at", "1 hour")
    rows.createTempView("late_orders")
    return spark.sql(
        "SELECT window(at, '1 day').start AS begin, upper(customer) AS who, sum(amount) AS total"
        " FROM late_orders GROUP BY window(at, '1 day'), upper(customer)"
    ).writeStream


def viewed(spark):
    """Each order with the pages that its customer saw in the hour before."""
    value = f.from_json(f.col("value").cast("string"), VIEW).alias("v")
    views = source(spark, "LATE_VIEWS").select(value).select("v.*").withWatermark("seen", "2 hours")
    views = views.withColumnRenamed("customer", "viewer")
    made = orders(spark).withWatermark("at", "2 hours")
    near = f.expr("viewer = customer AND seen BETWEEN at - INTERVAL 1 HOUR AND at")
    return views.join(made, near).select("id", "customer", "page", "amount").writeStream


def moved(spark):
    """How many customers have each number of orders: a late order moves one of them."""
    each = orders(spark).groupBy("customer").agg(f.count("*").alias("orders"))
    return each.groupBy("orders").agg(f.count("*").alias("customers")).writeStream


def failing(spark):
    """As by_customer, but raises at a late order."""
    check = f.udf(lambda order: 1 // (order - 1_000_003), "long")
    rows = orders(spark).withColumn("checked", check("id"))
    return rows.groupBy("customer").agg(f.sum("checked").alias("n")).writeStream
