"""Which topics a source continues: those that it still reads, and that still exist."""

from types import SimpleNamespace

import pytest

from headgate.model.version import Engine, Source, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.scenarios.shared.source_mapping import (
    deleted_risks,
    deleted_topics,
    given_takes,
    matched_takes,
)

OLD = QueryPosition(
    batch=4,
    sources=(
        SourcePosition(
            name="0",
            kind=SourceKind.KAFKA,
            offsets={"orders": {0: 7}, "orders-old": {0: 3}, "bills": {0: 1}},
        ),
    ),
)


class Cluster:
    def __init__(self, *there):
        self.there = there
        self.kafka = self

    def has_cluster(self):
        return True

    def topics(self, names):
        return {n: SimpleNamespace(name=n) for n in names if n in self.there}


@pytest.mark.parametrize(
    ("source", "there", "deleted", "taken"),
    [
        ({"topics": ("orders",)}, ["orders"], set(), ("orders",)),
        ({"topics": ("orders", "bills")}, ["orders"], set(), ("bills", "orders")),
        ({"pattern": "orders.*"}, ["orders", "orders-old"], set(), ("orders", "orders-old")),
        ({"pattern": ".*"}, ["orders", "bills"], {"orders-old"}, ("bills", "orders")),
        ({"pattern": ".*"}, ["orders", "bills", "orders-old"], set(), None),
        ({}, ["orders"], set(), None),
    ],
)
def test_a_pattern_takes_over_only_topics_that_exist(source, there, deleted, taken):
    version = Version(engine=Engine.SPARK, sources=(Source(position=0, format="kafka", **source),))
    found = deleted_topics(Cluster(*there), OLD, version)
    assert found == deleted
    (take,), blockers, _ = matched_takes(OLD, version, found)
    assert (take.topics, blockers) == (taken, [])
    ((given,), _) = given_takes(["0=0"], OLD, version, found)
    assert given.topics == taken
    assert len(deleted_risks(found)) == len(deleted)
