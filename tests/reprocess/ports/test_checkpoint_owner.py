"""A registered checkpoint that belongs to another query."""

import pytest

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Source, Version
from headgate.reprocess.checkpoint_owner import other_query
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import ReportedRun

PIPELINE = Pipeline(name="city", engine=Engine.SPARK, checkpoint="/ck")
CHECKPOINT = Checkpoint(location="/ck", query_id="mine", offsets={"orders": {0: 5}})


def stored(query="mine", topic="orders", **source):
    read = Source(position=0, format="kafka", topics=(topic,) if topic else (), **source)
    return Version(engine=Engine.SPARK, query_id=query, sources=(read,))


@pytest.mark.parametrize(
    ("version", "runs", "said"),
    [
        (stored(), (ReportedRun("mine", "city"),), None),
        (None, (), None),
        # After a reset from scratch only the stored id is an old one.
        (stored("old"), (), None),
        (stored("old"), (ReportedRun("old", "city", "1"), ReportedRun("mine", "city", "2")), None),
        (stored("old"), (ReportedRun("old", "b"), ReportedRun("other", "c")), None),
        (
            stored("theirs"),
            (ReportedRun("theirs", "city"),),
            "belongs to query mine, but headgate.watch and",
        ),
        (
            stored("theirs"),
            (ReportedRun("theirs"),),
            "belongs to query mine, but headgate.watch and",
        ),
        (
            stored(),
            (ReportedRun("mine", "land"), ReportedRun("x", "city")),
            "reports this id for query land, but this pipeline's query is city",
        ),
        (stored(topic="clicks"), (), "has offsets of orders, but the stored version reads clicks"),
        (stored(topic=None, pattern="ord.*"), (), None),
    ],
)
def test_what_contradicts_a_checkpoint_is_said(version, runs, said):
    found = other_query(PIPELINE, CHECKPOINT, version, runs)
    assert len(found) == bool(said)
    if said:
        assert said in found[0] and "Correct `checkpoint` in headgate.toml" in found[0]


def test_a_query_without_a_name_is_named_by_its_id():
    pipeline = Pipeline(name="city", engine=Engine.SPARK, checkpoint="/ck", query="city-id")
    runs = (ReportedRun("mine", "land"), ReportedRun("city-id"))
    (said,) = other_query(pipeline, CHECKPOINT, stored(), runs)
    assert "this pipeline's query is city-id. Correct" in said
