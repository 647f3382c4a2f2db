import os

LAKE = os.environ.get("LAKE", "/lake")

def logs(spark):
    return spark.readStream.text(f"{LAKE}/logs")


def build(spark):
    errors = logs(spark).where("value like '% ERROR %'")
    return errors.writeStream.format("json").option("path", f"{LAKE}/out/errors").outputMode("append")
