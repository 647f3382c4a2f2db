"""`--from-pipeline` of a query: the offsets of another checkpoint."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from headgate.errors import ScenarioError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.from_point import scenario
from headgate.reprocess.scenarios.from_point.risks import left_out_risks
from support.flat_ports import FlatPorts

OFFSETS = {"/q": {"orders": {0: 1}}, "/o": {"orders": {0: 4}, "clicks": {0: 2}}, "/f": {}}


class TwoQueries(FlatPorts):
    """Query `q` reads orders; query `other` reads orders and clicks, `files` no Kafka topic."""

    def pipelines(self):
        places = {"q": "/q", "other": "/o", "files": "/f", "none": None, "gone": "/g"}
        return tuple(Pipeline(name=n, engine=Engine.SPARK, checkpoint=p) for n, p in places.items())

    def registered(self, name):
        return next((p for p in self.pipelines() if p.name == name), None)

    def query_position(self, location):
        if location not in OFFSETS:
            return None
        offsets = OFFSETS[location]
        source = SourcePosition(name="0", kind=SourceKind.KAFKA, offsets=offsets)
        return QueryPosition(batch=3, sources=(source,))

    def read(self, location):
        return SimpleNamespace(offsets=OFFSETS[location])

    def has_cluster(self):
        return False


def from_query(name):
    inspector = TwoQueries()
    return PlanRequest(
        scenario="from-point",
        pipeline=inspector.registered("q"),
        inspector=inspector,
        options={"from-pipeline": name},
    )


def test_offsets_of_another_query_are_taken_only_for_topics_that_the_query_reads():
    """A plan with topics that only the other query reads would be blocked for good."""
    asked = from_query("other")
    assert scenario.resolved(asked).options == {"to-offsets": ["orders,0,4"]}
    (risk,) = left_out_risks(asked)
    assert risk.startswith("the run ignores the offsets that other has for clicks, because")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody", "no pipeline nobody is registered in headgate.toml; known: files, gone, none"),
        ("none", "headgate.toml sets no `checkpoint` for none"),
        ("gone", "checkpoint /g of gone not found"),
        ("files", "the checkpoint of files has no Kafka offsets. Pass a pipeline that reads Kafka"),
    ],
)
def test_a_query_without_offsets_gets_its_reason(name, said):
    with pytest.raises(ScenarioError) as error:
        scenario.resolved(from_query(name))
    assert said in str(error.value)
