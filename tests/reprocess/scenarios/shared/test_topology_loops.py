"""Which topics a Kafka Streams application both writes and reads, with patterns of Java."""

import pytest

from headgate.model.cluster import Group, GroupOffset
from headgate.reprocess.scenarios.shared.kafka_streams_topology import PATTERN, SINK, topology


def told(pattern, *committed):
    offsets = tuple(GroupOffset(topic=t, partition=0, offset=1) for t in committed)
    options = {PATTERN: [pattern], SINK: ["in-again", "out"]}
    return topology(options, None, "app", Group(id="app", offsets=offsets))


@pytest.mark.parametrize("pattern", [r"\Qin-\E.*", "in-.*", r"in-\p{Lower}*"])
def test_an_output_that_the_pattern_does_not_match_is_no_loop(pattern):
    found = told(pattern, "in-a", "out")
    assert found.loops == {"in-again"} and not found.unclear
    assert found.reads("in-b") and not found.reads("out")


def test_of_a_pattern_that_only_java_understands_committed_offsets_tell():
    found = told(r"in-\p{IsLatin}*", "in-a")
    assert found.loops == set() and found.unclear == (r"in-\p{IsLatin}*",)
    assert found.reads("in-b"), "it may read it, so nothing is refused"
    assert told(r"in-\p{IsLatin}*", "in-a", "out").loops == {"out"}
