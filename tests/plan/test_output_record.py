"""Which records of an output come a second time is told by their time, partition by partition."""

from __future__ import annotations

from dataclasses import replace

import pytest
from confluent_kafka import Producer

from headgate.plan.steps.output_record import RecordOutput, Written, spans, written_since


@pytest.mark.kafka
def test_what_is_not_older_than_the_first_of_the_later_batches(lab, broker, topic, unique):
    here, out = lab(), topic("out", partitions=3)
    here.registry = replace(here.registry, bootstrap_servers=broker)
    producer = Producer({"bootstrap.servers": broker})
    for part, times in {0: (1000, 2000, 3000), 1: (1000, 1999)}.items():
        for at in times:
            producer.produce(out, value="v", partition=part, timestamp=at)
    assert producer.flush(30) == 0
    world = here.effects()
    found = written_since(world, out, 2000)
    assert found == (Written(partition=0, begin=1, end=3),)
    assert written_since(world, unique("nowhere"), 2000) == ()
    step = RecordOutput(topic=out, batch=1, since=2000, written=found)
    assert f"2 record(s), {out}:0:1-2" in step.describe()
    # More may be written until the stop: that is no other plan.
    assert step.intent() == replace(step, written=()).intent()


def test_of_many_partitions_the_first_are_named():
    written = [Written(partition=n, begin=5, end=7) for n in range(9)]
    assert spans("out", written) == (
        "18 record(s), out:0:5-6, out:1:5-6, out:2:5-6 and more on 6 partition(s)"
    )
    assert spans("out", []) == "none"
