"""Which records of an output come a second time is told by their time, partition by partition."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headgate.reprocess.plan import Plan
from headgate.reprocess.steps.checkpoint.record_output import (
    RecordOutput,
    Written,
    spans,
    written_since,
)


@pytest.fixture
def out(topic, broker):
    """A topic of three partitions, the last one empty, with records at known times."""
    name = topic("out", partitions=3, config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": broker})
    for part, times in {0: (1000, 2000, 3000), 1: (1000, 1999)}.items():
        for at in times:
            producer.produce(name, value="v", partition=part, timestamp=at)
    assert producer.flush(30) == 0
    return name


@pytest.mark.kafka
def test_what_is_not_older_than_the_first_of_the_later_batches(lab, broker, out, unique):
    here = lab()
    here.registry = replace(here.registry, bootstrap_servers=broker)
    inspector = here.applier()
    found = written_since(inspector, out, 2000)
    assert found == (Written(partition=0, begin=1, end=3),)
    assert written_since(inspector, unique("nowhere"), 2000) == ()
    step = RecordOutput(topic=out, batch=1, since=2000, written=found)
    assert f"2 records, {out}:0:1-2" in step.describe()
    # More may be written until the stop: that is no other plan.
    assert step.intent() == replace(step, written=()).intent()


@pytest.mark.kafka
def test_a_crash_at_every_point_leaves_one_record(lab, broker, out):
    plan = Plan(scenario="x", pipeline="q", steps=(RecordOutput(topic=out, batch=1, since=2000),))
    for at in itertools.count():
        here = lab()
        here.registry = replace(here.registry, bootstrap_servers=broker)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        record = json.loads(
            (Path(here.applier(run).folders.snapshot_folder()) / "output.json").read_text()
        )
        assert record["written"] == [{"partition": 0, "begin": 1, "end": 3}]
        assert here.undo(run, plan).steps == ()
        if not crashed:
            break
    assert at > 2


def test_of_many_partitions_the_first_are_named():
    written = [Written(partition=n, begin=5, end=7) for n in range(9)]
    assert spans("out", written) == (
        "18 records, out:0:5-6, out:1:5-6, out:2:5-6 and 6 more partitions"
    )
    assert spans("out", []) == "none"
