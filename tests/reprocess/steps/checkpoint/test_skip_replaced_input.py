"""A query that skips replaced records must have none of them in its state."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from headgate.errors import RefusedError, StalePlanError
from headgate.model.cluster import Partition, Topic
from headgate.reprocess.checkpoint.files import CheckpointFiles
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.steps.checkpoint.run_bounded import RunBounded
from headgate.reprocess.steps.checkpoint.skip_replaced import SkipReplacedInput
from support.flat_ports import FlatPorts

SINCE = {"t": 1000}
HEAD = 'v1\n{"batchTimestampMs":1}'


def entry(*sources):
    lines = [json.dumps({"t": ends}, separators=(",", ":")) for ends in sources]
    return "\n".join((HEAD, *lines))


@dataclass
class Paper(FlatPorts):
    """t[0] and t[1] end at 20, and their replaced records begin at 10."""

    logged: dict = field(default_factory=lambda: {4: entry({"0": 10, "1": 10})})
    committed: tuple = (4,)
    begins: dict = field(default_factory=lambda: {0: 10, 1: 10})
    topic_id: str = "T"
    run = "r-1"
    notes: list = field(default_factory=list)

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=0, end=20) for n in self.begins)
        return {"t": Topic(name="t", id=self.topic_id, partitions=parts)}

    def identities(self, names):
        return {"t": (self.topic_id, len(self.begins))}

    def first_at(self, parts, at):
        return {p: self.begins[p[1]] for p in parts}

    def files(self, location, sink=None):
        files = {f"offsets/{n}": text.encode() for n, text in self.logged.items()}
        files |= {f"commits/{n}": b"v1\n{}" for n in self.committed}
        return CheckpointFiles(location=location, names=frozenset(files), files=files)

    def read(self, location):
        return Checkpoint(location=location, query_id="q-1", last_commit_batch=4)

    def snapshot_folder(self):
        return "/runs/r-1"

    def note(self, text):
        self.notes.append(text)


def skip(*, first=False, **more):
    return SkipReplacedInput(
        pipeline="q", checkpoint="/ck", query_id="q-1", since=SINCE, first=first, **more
    )


def run(**more):
    return RunBounded(
        pipeline="q", checkpoint="/ck", query_id="q-1", entry_point="m:f",
        replaced_since=SINCE, **more,
    )  # fmt: skip


def test_what_ends_where_replaced_records_begin_skips_them():
    found = skip().bind_copy(Paper())
    assert (found["batch"], found["ends"]) == (4, {"t": {"0": 20, "1": 20}})
    assert run().bind(Paper())["until"] == {"t": {"0": 10, "1": 10}}


@pytest.mark.parametrize(
    "moved",
    [
        {"logged": {4: entry({"0": 10, "1": 11})}},
        {"logged": {4: entry({"0": 10, "1": 10}), 5: entry({"0": 10, "1": 11})}},
    ],
    ids=["committed", "uncommitted"],
)
@pytest.mark.parametrize("bind", [skip().bind_copy, run().bind], ids=["skip", "run"])
def test_a_query_that_read_on_after_the_plan_is_refused(moved, bind):
    """Its state, or its next batch, has replaced records: they would be counted twice."""
    with pytest.raises(RefusedError) as error:
        bind(Paper(**moved))
    assert "ends at offset 11 of t[1], but the run replaces records from offset 10 on" in str(
        error.value
    )
    assert str(error.value).endswith("Run `headgate plan` again"), "the run is rolled back"


def test_a_query_that_keeps_its_state_may_have_read_them():
    """Without state, its results stay: the plan says so."""
    found = skip(first=True).bind_copy(Paper(logged={4: entry({"0": 15, "1": 20})}))
    assert found["ends"] == {"t": {"0": 20, "1": 20}}


def test_a_partition_that_no_batch_has_yet_is_not_left_out():
    """Spark would read t[2] from 0, with its replaced records."""
    with pytest.raises(RefusedError, match=r"the last batch of q has no offset for t\[2\]"):
        skip(first=True).bind_copy(Paper(begins={0: 10, 1: 10, 2: 0}))
    found = skip(first=True).bind_copy(Paper(begins={0: 10, 1: 10, 2: 20}))
    assert found["ends"] == {"t": {"0": 20, "1": 20}}, "nothing of t[2] is replaced"


def test_a_query_without_a_committed_batch_needs_no_repair():
    with pytest.raises(RefusedError, match="checkpoint /ck has no committed batch"):
        skip(first=True).bind_copy(Paper(committed=()))


def test_two_sources_at_different_offsets_are_refused():
    both = entry({"0": 15, "1": 10}, {"0": 12, "1": 10})
    with pytest.raises(RefusedError, match=r"different offsets of t\[0\]: 15, 12"):
        skip(first=True).bind_copy(Paper(logged={4: both}))
    same = entry({"0": 15, "1": 10}, {"0": 15, "1": 10})
    found = skip(first=True).bind_copy(Paper(logged={4: same}))
    assert found["text"].count('{"t":{"0":20,"1":20}}') == 2


@pytest.mark.parametrize("step", [skip, run])
def test_a_recreated_topic_is_refused(step):
    planned = {"t": {"id": "T", "partitions": 2}}
    made = step(topics=planned)
    bind = getattr(made, "bind_copy", made.bind)
    assert bind(Paper())
    with pytest.raises(StalePlanError, match="t was deleted and recreated"):
        bind(Paper(topic_id="U"))
