"""Repair: take back what a refused upgrade or a crash left, so that the query starts again."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.reprocess.conditions import LOCAL
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import (
    SUPPORTED,
    Kind,
    Option,
    PlanRequest,
    Scenario,
    needs,
    refused,
)
from headgate.reprocess.scenarios.repair import consumer_group as repair_group
from headgate.reprocess.scenarios.repair import spark as repair_spark


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    if request.pipeline.engine is Engine.SPARK:
        return repair_spark.build(request)
    return repair_group.build(request)


_SPARK = frozenset({Engine.SPARK})
OPTIONS = (
    Option(
        name="uncommitted",
        ask="Take out the batch that was begun, whatever it looks like?",
        help="Also take out a begun batch that looks like any other: for a query that it stops.",
        kind=Kind.FLAG,
        engines=_SPARK,
    ),
    Option(
        name="query-id",
        ask="What is the query's id?",
        help="The id for a `metadata` that is lost, as progress and logs show it.",
        metavar="ID",
        engines=_SPARK,
    ),
    Option(
        name="beyond",
        ask="Where do partitions go whose offset is beyond the end?",
        help="The beginning if the topic was recreated, the end if its tail was lost, or the last"
        " position in the journal or the worker's looks.",
        kind=Kind.CHOICE,
        choices=("beginning", "end", repair_group.LAST_KNOWN),
        engines=frozenset({Engine.CONSUMER_GROUP}),
    ),
    Option(
        name="abort-transaction",
        ask="Which open transaction has a producer that is gone for good?",
        help="Abort this open transaction on a topic that it reads, and nothing else: its id, or"
        " TOPIC:PARTITION:PRODUCER of one without an id; again for more. It can't be undone.",
        kind=Kind.MANY,
        metavar="ID",
        engines=frozenset({Engine.CONSUMER_GROUP}),
    ),
)

SCENARIO = Scenario(
    name="repair",
    title="Repair",
    what="Find what keeps the pipeline from starting, repair a copy, prove it, put it in place.",
    build=build,
    options=OPTIONS,
    support={
        Engine.SPARK: needs(LOCAL),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: refused(
            "its state lives in changelogs and on its own hosts: offsets that are mended alone no"
            " longer fit it, and Kafka Streams restores its stores itself; from-scratch begins anew"
        ),
    },
)
