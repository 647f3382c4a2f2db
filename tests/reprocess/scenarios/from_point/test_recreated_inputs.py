"""Plans that keep offsets of a topic that was deleted and recreated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from paper_offsets import NOON, NOON_MS, PaperInspector, of_orders

from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import LoggedBatch, RestorePoint, SnapshotSize
from headgate.model.version import Engine, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenarios.build import build_plan


@dataclass
class PaperQuery(PaperInspector):
    """A query whose batch 5 was planned at noon, and ends at these offsets."""

    at: dict = field(default_factory=lambda: {"orders": {0: 7, 1: 3}})

    def read(self, location):
        return Checkpoint(location=location, query_id="q-1", offsets=self.at)

    def query_position(self, location):
        source = SourcePosition(name="0", kind=SourceKind.KAFKA, offsets=self.at)
        return QueryPosition(batch=5, sources=(source,))

    def batches(self, location):
        return (LoggedBatch(number=5, planned_ms=NOON_MS, offsets=self.at),)

    def registered(self, pipeline):
        commands = Commands(stop="stop", start="start")
        return Pipeline(name="q", engine=Engine.SPARK, checkpoint="/ck", commands=commands)

    def snapshot_size(self, location):
        return SnapshotSize(files=1, bytes=1, copied=0)

    def open_state(self, *_args, **_more):
        return None


VERSION = Version(engine=Engine.SPARK, topic_ids={"orders": "old"}, captured_at=NOON)


@pytest.mark.parametrize(
    ("scenario", "options", "blocked"),
    [
        ("new-checkpoint", {}, True),
        ("from-point", {"shift_by": "-1"}, True),
        ("from-point", {"to_offset": "2", "topic": ["orders:0"]}, True),
        # No old offset remains.
        ("from-point", {"to_offset": "2"}, False),
        ("from-point", {"to_earliest": True}, False),
    ],
)
def test_old_offsets_of_a_recreated_topic_are_not_kept(scenario, options, blocked):
    inspector = PaperQuery(known={"orders": of_orders(0).known["orders"]})
    made = build_plan(scenario, "q", inspector, options, version=VERSION)
    said = [b for b in made.blockers if "was deleted and recreated" in b]
    assert bool(said) is blocked
    assert all("the offsets of batch 5 are of the old topic" in one for one in said)
    # Without an id, only a record that is newer than the batch shows it.
    newer = {("orders", 0): 6, ("orders", 1): None}
    inspector = PaperQuery(known=inspector.known, first=newer)
    likely = build_plan(scenario, "q", inspector, options)
    assert likely.blockers == ()
    assert any("orders was probably recreated" in risk for risk in likely.risks) is blocked


def test_a_restore_point_of_a_recreated_topic_blocks_the_plan():
    offsets = {"orders": {0: 4, 1: 2}}
    point = RestorePoint(
        id="p-1", pipeline="q", made_at=NOON, source="g", offsets=offsets,
        topic_ids={"orders": "old"},
    )  # fmt: skip
    made = build_plan(
        "from-point", "q", PaperInspector(), {"restore_point": "p-1"}, points=lambda _: (point,)
    )
    assert any("the offsets of restore point p-1 are of the old topic" in b for b in made.blockers)
    same = replace(point, topic_ids={"orders": "o"})
    made = build_plan(
        "from-point", "q", PaperInspector(), {"restore_point": "p-1"}, points=lambda _: (same,)
    )
    assert made.blockers == ()
