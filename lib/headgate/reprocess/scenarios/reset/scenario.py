"""The options of Kafka's own reset tool, and what is made of them; `headgate reset`.

What differs from that tool on purpose: a preview has no effect whatever; nothing is done before all
of it was checked; a name's beginning is no proof; a target outside of a log is refused; and the
application has to be known. See docs/reset.md.
"""

from __future__ import annotations

from dataclasses import replace

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenario import SUPPORTED, Asked, Kind, Option, Scenario, refused
from headgate.reprocess.scenarios.from_point import kafka_streams as from_point_streams
from headgate.reprocess.scenarios.from_point import scenario as from_point
from headgate.reprocess.scenarios.shared import kafka_streams_options as ask
from headgate.reprocess.scenarios.shared import kafka_streams_topology as told
from headgate.reprocess.scenarios.shared.kafka_streams_reset import StreamsWish
from headgate.reprocess.steps.offsets.target import Place, Target

_POINTS = (
    *("to-offset", "to-earliest", "to-latest", "to-datetime", "by-duration", "shift-by"),
    *("from-file", "to-offsets"),
)
INPUT_TOPICS = Option(
    name="input-topics",
    ask="Which topics does it read?",
    help="The input topics to move: to their beginning, unless a point is given.",
    kind=Kind.MANY,
    metavar="TOPIC,...",
)
FORCE = Option(
    name="force",
    ask="Remove members that a killed process left behind?",
    help="With --execute: remove members left by killed processes; refused if one comes back.",
    kind=Kind.FLAG,
)


def build(asked: Asked) -> Plan:
    """Return the plan; without input topics offsets stay, as with Kafka's tool."""
    asked = from_point.resolved(asked)
    target = _target(asked)
    inputs = ask.names(asked.options, INPUT_TOPICS)
    if target.place is Place.LISTED and not inputs:
        inputs = tuple(sorted({row.topic for row in target.listed}))
    internal = ask.names(asked.options, ask.INTERNAL_TOPICS)
    wish = StreamsWish(
        target=target if inputs else None,
        inputs=inputs,
        intermediate=ask.names(asked.options, ask.INTERMEDIATE_TOPICS),
        internal=internal or None,
        keep_internal=ask.KEEP_INTERNAL.name in asked.options,
        force=FORCE.name in asked.options,
        back_up=ask.BACK_UP.name in asked.options,
        instances=ask.names(asked.options, ask.CLEARED),
    )
    return from_point_streams.reset(asked, wish)


def _target(asked: Asked) -> Target:
    given = [name for name in _POINTS if name in asked.options]
    if not given:
        return Target(place=Place.BEGINNING)
    if INPUT_TOPICS.name not in asked.options and given != ["to-offsets"]:
        raise ScenarioError(f"--{given[0]} needs --input-topics: it says where those go")
    return from_point.target_of(asked)


def _points() -> tuple[Option, ...]:
    """Return the points of `from-point` that Kafka's tool has too; none of them is required."""
    wanted = {*_POINTS, "no-record", "past-retention"}
    return tuple(replace(o, required=False) for o in from_point.OPTIONS if o.name in wanted)


def _hidden(name: str) -> Option:
    """Return an option for what was read from evidence: a plan is built anew from its options."""
    return Option(name=name, ask="", help="Read from --topology.", kind=Kind.MANY)


CONNECTION = (
    Option(name="bootstrap-server", ask="Where is Kafka?", help="Where Kafka listens."),
    Option(name="command-config", ask="Which settings?", help="A file of client properties."),
    Option(name="topology", ask="Which topology?", help="Evidence.", kind=Kind.MANY),
)
SCENARIO = Scenario(
    name=RESET,
    title="Reset",
    what="Reset a Kafka Streams application with the options of Kafka's own tool.",
    build=build,
    options=(
        INPUT_TOPICS,
        *_points(),
        *ask.OPTIONS,
        FORCE,
        *CONNECTION,
        *map(_hidden, (told.INTERNAL, told.SOURCE, told.PATTERN, told.SINK, told.STORE)),
    ),
    support={
        Engine.KAFKA_STREAMS: SUPPORTED,
        Engine.SPARK: refused("this is for Kafka Streams applications"),
        Engine.CONSUMER_GROUP: refused("this is for Kafka Streams applications"),
    },
)
