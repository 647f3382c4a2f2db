"""The options of Kafka's own reset tool, and what is made of them; `headgate reset`.

It differs from that tool on purpose: a preview has no effect at all; everything is checked before
anything is done; a name's prefix isn't evidence; a target outside of a log is blocked; and the
application has to be known. See docs/reset.md.
"""

from __future__ import annotations

from dataclasses import replace

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario, refused
from headgate.reprocess.scenarios.from_point import kafka_streams as from_point_streams
from headgate.reprocess.scenarios.from_point import scenario as from_point
from headgate.reprocess.scenarios.shared import (
    kafka_streams_options,
    kafka_streams_reset_checks,
    kafka_streams_topology,
)
from headgate.reprocess.scenarios.shared.kafka_streams_reset import ResetRequest
from headgate.reprocess.steps.offsets.target import TARGET_RISKS, Target, TargetKind

_POINTS = (
    *("to-offset", "to-earliest", "to-latest", "to-datetime", "by-duration", "shift-by"),
    *("from-file", "to-offsets"),
)
INPUT_TOPICS = Option(
    name="input-topics",
    ask="Input topics",
    help="Input topics to reset (to the earliest offset, unless another option sets the offset).",
    kind=Kind.MANY,
    metavar="TOPIC,...",
)
FORCE = Option(
    name="force",
    ask="Remove members of killed processes",
    help="With --execute: remove members left by killed processes. The run fails if a member "
    "rejoins.",
    kind=Kind.FLAG,
)


def build(request: PlanRequest) -> Plan:
    """Return the plan; without input topics offsets stay, as with Kafka's tool."""
    request = from_point.resolved(request)
    target = _target(request)
    inputs = kafka_streams_options.names(request.options, INPUT_TOPICS)
    if target.place is TargetKind.LISTED and not inputs:
        inputs = tuple(sorted({row.topic for row in target.listed}))
    internal = kafka_streams_options.names(request.options, kafka_streams_options.INTERNAL_TOPICS)
    wish = ResetRequest(
        target=target if inputs else None,
        inputs=inputs,
        intermediate=kafka_streams_options.names(
            request.options, kafka_streams_options.INTERMEDIATE_TOPICS
        ),
        internal=internal or None,
        keep_internal=kafka_streams_options.KEEP_INTERNAL.name in request.options,
        force=FORCE.name in request.options,
        back_up=kafka_streams_options.BACK_UP.name in request.options,
        instances=kafka_streams_options.names(request.options, kafka_streams_options.CLEARED),
    )
    return from_point_streams.reset(request, wish)


def _target(request: PlanRequest) -> Target:
    given = [name for name in _POINTS if name in request.options]
    if not given:
        return Target(place=TargetKind.BEGINNING)
    if INPUT_TOPICS.name not in request.options and given != ["to-offsets"]:
        raise ScenarioError(f"--{given[0]} needs --input-topics: pass the topics to reset")
    return from_point.target_of(request)


def _points() -> tuple[Option, ...]:
    """Return the points of `from-point` that Kafka's tool has too; none of them is required."""
    wanted = {*_POINTS, "no-record", "past-retention"}
    return tuple(replace(o, required=False) for o in from_point.OPTIONS if o.name in wanted)


def _hidden(name: str) -> Option:
    """Return an option for what was read from evidence: a plan is rebuilt from its options."""
    return Option(
        name=name, ask="", help="Value that Headgate reads from --topology.", kind=Kind.MANY
    )


CONNECTION = (
    Option(
        name="bootstrap-server",
        ask="Kafka brokers",
        help="Addresses of the Kafka brokers.",
    ),
    Option(
        name="command-config",
        ask="Client properties",
        help="File with properties of the Kafka client.",
    ),
    Option(
        name="topology",
        ask="Evidence of the topology",
        help="Evidence of the topology, to verify which topics belong to the application.",
        kind=Kind.MANY,
    ),
)
SCENARIO = Scenario(
    name=RESET,
    title="Reset",
    short="Reset a Kafka Streams application.",
    what="Reset a Kafka Streams application, with the options of Kafka's "
    "kafka-streams-application-reset.",
    build=build,
    steps=(
        "remove_members",
        "stop_pipeline",
        "await_transactions",
        "record_offsets",
        "back_up_records",
        "back_up_unread_records",
        "reset_offsets",
        "delete_topics",
        "clear_local_state",
        "start_pipeline",
        "manual_step",
    ),
    risks=lambda: (*TARGET_RISKS, *kafka_streams_reset_checks.RISKS),
    options=(
        INPUT_TOPICS,
        *_points(),
        *kafka_streams_options.OPTIONS,
        FORCE,
        *CONNECTION,
        *map(
            _hidden,
            (
                kafka_streams_topology.INTERNAL,
                kafka_streams_topology.SOURCE,
                kafka_streams_topology.PATTERN,
                kafka_streams_topology.SINK,
                kafka_streams_topology.STORE,
            ),
        ),
    ),
    support={
        Engine.KAFKA_STREAMS: SUPPORTED,
        Engine.SPARK: refused("only for Kafka Streams applications"),
        Engine.CONSUMER_GROUP: refused("only for Kafka Streams applications"),
    },
)
