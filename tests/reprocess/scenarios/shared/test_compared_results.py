"""Columns that a comparison can't have are found before both versions process the records."""

import pytest

from headgate.model.registered_pipelines import Pipeline
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Engine, Sink, Version
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.compared_results import column_blockers

SCHEMA = Schema(fields=(Field("city", "string"), Field("total", "long")))


def blockers(sink, **options):
    request = PlanRequest(
        scenario="ab",
        pipeline=Pipeline(name="q", engine=Engine.SPARK),
        inspector=None,
        version=Version(engine=Engine.SPARK, sink=sink),
        options=options,
    )
    return column_blockers(request)


@pytest.mark.parametrize(
    ("sink", "options", "said"),
    [
        (Sink(schema=SCHEMA), {"keys": ["city"]}, None),
        (Sink(), {"keys": ["ctiy"]}, None),
        (None, {"keys": ["ctiy"]}, None),
        (Sink(schema=SCHEMA), {"keys": ["ctiy"]}, "the results of q have no column ctiy"),
        (Sink(), {"keys": ["city"], "ignore": ["city"]}, "--ignore: city is also in --keys"),
    ],
)
def test_a_mistyped_key_blocks_the_plan(sink, options, said):
    found = blockers(sink, **options)
    assert (said in found[0]) if said else not found
