"""A rate limit holds on real Kafka and Spark, and costs no record."""

from __future__ import annotations

import json
import os
import time
from collections import Counter

import pytest

from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
from headgate.model.registered_pipelines import Registry, SparkSettings
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from integration.spark_data.control_orders import RANGE, register, rows_of, write_orders
from scenes.small_spark import SMALL

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
COUNT, RATE = 900, 100


@pytest.fixture
def orders(team, topic, broker, monkeypatch):
    name = topic("orders", partitions=4, config={"retention.ms": "-1"})
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    monkeypatch.setenv("TOTALS_TOPIC", topic("totals", partitions=1))
    # The last partition is empty.
    return write_orders(broker, name, COUNT, partitions=3)


def check_rate(rows, began):
    """Every order came once, and never more than the limit since the query began."""
    assert Counter(row["id"] for row in rows) == Counter(range(COUNT))
    for count, at in enumerate(sorted(row["processed"] for row in rows), start=1):
        assert count <= 1.1 * RATE * (at - began), f"{count} records in {at - began:.2f} s"


def test_a_bounded_run_keeps_the_rate(team, orders, consume):
    register(team, "clocked")
    spark = SparkSettings(master="local[2]", config=SMALL)
    context = RunContext(
        registry=Registry(path=team.config, spark=spark), home=team.folder / "home", run="r1",
        pause=time.sleep,
    )  # fmt: skip
    checkpoint = team.folder / "checkpoint"
    job = SparkJob(
        program="run_bounded", what="the run",
        arguments=("--entry-point=control_queries:clocked", f"--checkpoint={checkpoint}",
                   f"--bounds={team.folder / 'bounds.json'}", f"--rate={RATE}"),
    )  # fmt: skip
    found = SparkJobAdapter(context).run(job)
    assert found.outcome is JobOutcome.DONE, found.error
    assert found.facts["records"] == COUNT and found.facts["batches"] > 1
    # Spark writes it when the query starts, before the first batch.
    began = (checkpoint / "metadata").stat().st_mtime
    values = [json.loads(r.value()) for r in consume(os.environ["TOTALS_TOPIC"], COUNT)]
    check_rate(values, began)


@pytest.mark.long
def test_a_range_as_a_stream_keeps_the_rate(team, orders):
    register(team, "clocked")
    target = team.folder / "results"
    given = (*RANGE, "--to", str(target), "--time-column", "at", "--rate", str(RATE))
    _, blocked = team.plan("clocked", *given, scenario="historical-range", code=3)
    assert blocked["blockers"][0].startswith("--rate: Spark can't limit a batch")
    given = (*given, "--as", "stream", "--max-records", str(RATE))
    file, plan = team.plan("clocked", *given, scenario="historical-range")
    assert f"with this rate limit, the run takes at least {COUNT // RATE} s" in plan["risks"]
    apply, began = team.popen("apply", str(file), "--format", "json"), None
    while apply.poll() is None and began is None:
        for made in team.folder.glob(".*.stream.headgate-*/checkpoint/metadata"):
            began = made.stat().st_mtime
        time.sleep(0.02)
    out, err = apply.communicate(timeout=300)
    assert apply.returncode == 0 and began is not None, (out, err)
    check_rate([json.loads(row["value"]) for row in rows_of(target)], began)
