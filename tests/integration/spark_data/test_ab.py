"""Two functions over the same orders: equal ones, and one that differs in two cities."""

import json
import shutil
import subprocess
import sys
from collections import Counter

import pyarrow.parquet
import pytest

from scenes.small_spark import small_spark

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

CODE = """
import os
from pyspark.sql import functions as f

def totals(spark, factor):
    raw = (spark.readStream.format("kafka")
           .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
           .option("subscribe", os.environ["ORDERS_TOPIC"]).load())
    value = f.from_json(f.col("value").cast("string"), "city string, amount long").alias("v")
    rows = raw.select(value).select("v.*").groupBy("city").agg(f.sum("amount").alias("total"))
    fixed = f.when(f.col("city").isin("c1", "c2"), f.col("total") * factor)
    totals = fixed.otherwise(f.col("total"))
    return rows.withColumn("total", totals).writeStream.outputMode("update")

def first(spark):
    return totals(spark, 1)

def same(spark):
    return totals(spark, 1)

def second(spark):
    return totals(spark, 2)
"""


ORDERS = [{"city": f"c{number % 6}", "amount": number} for number in range(60)]


@pytest.fixture
def pipeline(team, topic, produce, broker, monkeypatch):
    """The function `first`, registered and captured; 60 orders of six cities."""
    orders = topic("orders", partitions=2)
    for number, order in enumerate(ORDERS):
        produce(orders, [json.dumps(order)], partition=number % 2)
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", orders)
    (team.folder / "totals.py").write_text(CODE)
    team.register(
        '[[pipeline]]\nname = "totals"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        'entry_point = "totals:first"\n',
        small_spark(),
    )
    command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
    command += ["totals:first", "--pipeline", "totals"]
    subprocess.run(command, cwd=team.folder, check=True, capture_output=True)
    return orders


def plan(team, other, *options):
    given = (f"--other=totals:{other}", "--keys=city", f"--to={team.folder / 'ab'}")
    file, made = team.plan("totals", *given, *options, scenario="ab")
    assert made["can_apply"], made["blockers"]
    return file


def totals(orders, factor=1):
    """What the functions compute of the orders, in plain Python."""
    found = Counter()
    for order in orders:
        found[order["city"]] += order["amount"]
    return {c: n * factor if c in ("c1", "c2") else n for c, n in found.items()}


def written(team, name):
    """The rows of one version, none of them twice."""
    rows = pyarrow.parquet.read_table(team.folder / "ab" / name).to_pylist()
    found = {row["city"]: row["total"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_version_that_cannot_be_imported_blocks_the_plan(team, pipeline):
    for other, said in (
        ("totals:none", "module totals has no function none"),
        ("none:none", "module none can't be imported from"),
    ):
        given = (f"--other={other}", "--keys=city", f"--to={team.folder / 'ab'}")
        _, made = team.plan("totals", *given, scenario="ab", code=3)
        (blocker,) = made["blockers"]
        assert blocker.startswith(f"--other: the import of {other} failed: ")
        assert said in blocker


@pytest.mark.long
def test_equal_results_end_well_and_an_undo_deletes_them(team, pipeline):
    done = team.run("apply", str(plan(team, "same")))
    assert [s["state"] for s in done["steps"]] == ["done"] * 5
    notes = [n["message"] for n in team.run("runs", done["run"])["progress"]]
    assert any(
        n.startswith("6 old rows, 6 new rows, 0 missing, 0 extra, 0 different") for n in notes
    )
    team.run("undo", done["run"])
    assert not list((team.folder / "ab").iterdir())


@pytest.mark.parametrize("way", ["batch", pytest.param("stream", marks=pytest.mark.long)])
def test_both_have_the_totals_of_all_orders_and_differences_fail_the_run(team, pipeline, way):
    failed = team.run("apply", str(plan(team, "second", f"--as={way}")), code=1)
    (step,) = [s for s in failed["steps"] if s["state"] == "failed"]
    assert step["action"] == "compare_results"
    assert "0 missing, 0 extra, 2 different" in step["error"]
    assert written(team, "a") == totals(ORDERS)
    assert written(team, "b") == totals(ORDERS, factor=2)
    shutil.rmtree(team.folder / "ab")


@pytest.mark.long
def test_differences_are_allowed_and_kept_with_the_run(team, pipeline):
    done = team.run("apply", str(plan(team, "second", "--allow-differences")))
    kept = team.folder / ".headgate" / "runs" / done["run"] / "comparison.json"
    found = json.loads(kept.read_text())
    assert {s["key"]["city"] for s in found["samples"]} == {"c1", "c2"}
    assert [(c["name"], c["different"]) for c in found["columns"]] == [("total", 2)]


@pytest.mark.long
def test_a_range_of_offsets_is_processed(team, pipeline):
    options = (f"--offsets={pipeline}:0:0-10", f"--offsets={pipeline}:1:0-0")
    done = team.run("apply", str(plan(team, "same", *options)))
    notes = [n["message"] for n in team.run("runs", done["run"])["progress"]]
    assert sum(n.startswith("10 records read") for n in notes) == 2
    # Partition 0 has the even numbers: three cities.
    assert any(n.startswith("3 old rows, 3 new rows") for n in notes)
    assert written(team, "a") == written(team, "b") == totals(ORDERS[:20:2])
