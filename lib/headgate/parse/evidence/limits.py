"""Say what the evidence of a version leaves unknown, and which evidence would show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from headgate.model.evidence_kinds import LOGS, EvidenceKind
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.state_schema import Schema
from headgate.model.topology import NodeKind
from headgate.model.version import Engine, OperatorKind, Source, StatefulOperator, Version

_NEVER = (
    "Unknown: serdes, window sizes, grace periods, aggregations, filters, store types and "
    "stores without logging. Only the application's code shows these settings."
)
_INTERNAL = (
    "Unknown: internal topics, their partitions and settings. To read these topics from "
    "the cluster, register the application with its `group` in headgate.toml, or add a file "
    "internal_topics.json that lists them."
)


def limits_of_streams(app: StreamsApplication) -> tuple[str, ...]:
    """Return one sentence for each thing that is not known, in fixed order."""
    return tuple(_limits(app))


def _limits(app: StreamsApplication) -> Iterator[str]:
    if not app.described:
        yield (
            "Unknown: operators, sinks and stores without a changelog. Add the text of "
            "Topology#describe()."
        )
    if not app.application_id:
        yield (
            "Unknown: the application id. Set `group` of the pipeline in headgate.toml, or add a "
            "log with `StreamsConfig values:`, or a file config.json with `application.id`."
        )
    if not app.config:
        yield (
            "Unknown: the configuration. Add a file config.json with the settings, or a log with "
            "`StreamsConfig values:`."
        )
    elif not app.config_is_whole:
        yield "Unknown: settings that the evidence doesn't list. Headgate assumes Kafka's defaults."
    if app.internal is None:
        yield _INTERNAL
    if any(s.pattern for s in app.sources) and not app.inputs:
        yield (
            "Unknown: the topics that a pattern subscription matches. To read these topics from "
            "the cluster, register the application with its `group` in headgate.toml."
        )
    if app.described:
        yield _NEVER


_CAPTURE = "`headgate capture module:function`"
_PLANS = LOGS | {EvidenceKind.EXPLAIN, EvidenceKind.PLAN_JSON, EvidenceKind.VERSION}
_FIXED_OPTIONS = frozenset(("local", "memory"))


class Gap(StrEnum):
    """What the evidence of a Spark query may leave open."""

    STEPS = "steps"
    SOURCES = "sources"
    TOPICS = "topics"
    OPTIONS = "options"
    STATE = "state"
    EXCHANGES = "exchanges"
    TYPES = "types"
    VARIABLES = "variables"
    PROVIDER = "provider"
    SINK = "sink"
    MODE = "mode"
    TRIGGER = "trigger"
    FUNCTIONS = "functions"
    HISTORY = "history"


def limits_of(version: Version) -> tuple[str, ...]:
    """Return one sentence, in fixed order, for each unknown fact and the evidence to add.

    Nothing is a warning here: the evidence is sound and its kind holds no more. What is known to
    be absent (a query without state) isn't a limit. For a consumer group it is empty.
    """
    if version.streams is not None:
        return limits_of_streams(version.streams)
    return tuple(gaps_of(version).values())


def gaps_of(version: Version) -> dict[Gap, str]:
    """Return the sentence for each thing that is not known of a Spark query, in fixed order."""
    if version.engine is not Engine.SPARK:
        return {}
    found = ((gap, limit(version)) for gap, limit in _LIMITS.items())
    return {gap: said for gap, said in found if said is not None}


def _kinds(version: Version) -> frozenset[str]:
    return frozenset(e.kind for e in version.evidence)


def _is_captured(version: Version) -> bool:
    return bool(_kinds(version) & {EvidenceKind.CAPTURE, EvidenceKind.WATCH})


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _named(sources: Sequence[Source]) -> str:
    words = [s.name or f"s{s.position}" for s in sources]
    shown = (
        _listed(words) if len(words) <= 5 else f"{', '.join(words[:5])} and {len(words) - 5} more"
    )
    return f"source {shown}" if len(words) == 1 else f"sources {shown}"


def _operators(operators: Sequence[StatefulOperator]) -> str:
    words = [_operator(o) for o in operators]
    return (
        _listed(words) if len(words) <= 5 else f"{', '.join(words[:5])} and {len(words) - 5} more"
    )


def _operator(operator: StatefulOperator) -> str:
    number = "" if operator.operator_id is None else f" {operator.operator_id}"
    return f"operator{number} ({operator.name or operator.kind.value})"


def _no_plan(version: Version) -> str | None:
    """Progress, offsets and state have names and locations, but no operators between them."""
    # A capture has a plan, and a plan alone tells a source's columns.
    if _kinds(version) & _PLANS or any(s.columns is not None for s in version.sources or ()):
        return None
    return (
        "Unknown: the operators between sources and sink. Add explain text, a query plan as JSON "
        "or an event log."
    )


def _sources(version: Version) -> str | None:
    if version.sources is not None:
        return None
    return "Unknown: the sources. Add explain text, query progress or the checkpoint."


def _topics(version: Version) -> str | None:
    """No plan names the topics: `KafkaTable` and `StreamingRelationV2` print none."""
    open_ = [s for s in version.sources or () if s.format == "kafka" and not _reads(s)]
    if not open_:
        return None
    return (
        f"Unknown: the topics of {_named(open_)}, because a query plan doesn't show topics. Add "
        f"query progress, the checkpoint or the output of {_CAPTURE}."
    )


def _reads(source: Source) -> bool:
    return bool(source.topics or source.pattern)


def _options(version: Version) -> str | None:
    """Plans omit the options of sources and sinks, such as rates and starting offsets."""
    if _is_captured(version) or (version.sources is None and version.sink is None):
        return None
    open_ = [s for s in version.sources or () if not s.options and s.format not in _FIXED_OPTIONS]
    if not open_ or (version.sink and version.sink.options):
        return None
    return (
        "Unknown: the options of sources and sink (starting offsets, limits per batch). Run "
        f"{_CAPTURE}."
    )


def _state(version: Version) -> str | None:
    if version.stateful is not None:
        return None
    return (
        "Unknown: whether the query has state. Add a query plan, or the checkpoint with its state."
    )


def _physical(version: Version) -> str | None:
    """Every stateful operator sits on an exchange: where none shows, no physical plan was read."""
    planned = any(n.kind is NodeKind.REPARTITION for n in version.topology.nodes)
    if not version.stateful or planned or not _kinds(version) & _PLANS:
        return None
    return (
        "Unknown: exchanges and physical operators, because a logical plan doesn't show "
        "them. Add explain text with the physical plan."
    )


def _types(version: Version) -> str | None:
    """Explain text prints the types only of the result, and never nullability."""
    open_ = [o for o in version.stateful or () if any(_is_open(s) for s in _schemas(o))]
    if not open_:
        return None
    return (
        f"Unknown: types and nullability of some columns in the state of {_operators(open_)}. Add "
        "the checkpoint, or the query plan as JSON (from the Spark session of the explain text)."
    )


def _schemas(operator: StatefulOperator) -> list[Schema | None]:
    return [s for store in operator.stores for s in (store.key_schema, store.value_schema)]


def _is_open(schema: Schema | None) -> bool:
    return schema is None or any(f.type is None or f.nullable is None for f in schema.fields)


def _variables(version: Version) -> str | None:
    """A transformWithState makes its state variables when it runs, not when it is planned."""
    operators = [
        o
        for o in version.stateful or ()
        if o.kind is OperatorKind.TRANSFORM_WITH_STATE and not o.extra.get("variables")
    ]
    if not operators or EvidenceKind.CHECKPOINT in _kinds(version):
        return None
    return (
        f"Unknown: state variables, timers and time-to-live of {_operators(operators)}, because a "
        f"query plan doesn't show them. Add the checkpoint or the output of {_CAPTURE}."
    )


def _provider(version: Version) -> str | None:
    stores = [s for o in version.stateful or () for s in o.stores]
    if not stores or any(s.provider for s in stores) or version.settings or version.pinned:
        return None
    return (
        "Unknown: the state store provider. Add the checkpoint, or a JSON file with the session's "
        "`spark.*` settings."
    )


def _mode(version: Version) -> str | None:
    if version.output_mode:
        return None
    return (
        "Unknown: the output mode. A query plan that was printed before the query started always "
        f"shows Append. Run {_CAPTURE}, or add the query plan of the running query."
    )


def _sink(version: Version) -> str | None:
    if version.sink and version.sink.format:
        return None
    return (
        "Unknown: the sink. Add query progress, the query plan of the running query or the output "
        f"of {_CAPTURE}."
    )


def _trigger(version: Version) -> str | None:
    if version.trigger:
        return None
    return f"Unknown: the trigger. Run {_CAPTURE}."


def _functions(version: Version) -> str | None:
    hidden = set(version.user_functions) - {f.name for f in version.functions}
    if not hidden:
        return None
    return (
        f"Unknown: the code of functions ({_listed(sorted(hidden))}), because a query plan doesn't "
        f"show it. For Python functions, run {_CAPTURE}."
    )


def _history(version: Version) -> str | None:
    known = version.progress and version.progress.first_retained_batch is not None
    if known or version.pinned or EvidenceKind.CHECKPOINT in _kinds(version):
        return None
    return (
        "Unknown: pinned settings (shuffle partitions, state formats) and the batches of the "
        "offset log. Add the checkpoint."
    )


_LIMITS: Mapping[Gap, Callable[[Version], str | None]] = {
    Gap.STEPS: _no_plan,
    Gap.SOURCES: _sources,
    Gap.TOPICS: _topics,
    Gap.OPTIONS: _options,
    Gap.STATE: _state,
    Gap.EXCHANGES: _physical,
    Gap.TYPES: _types,
    Gap.VARIABLES: _variables,
    Gap.PROVIDER: _provider,
    Gap.SINK: _sink,
    Gap.MODE: _mode,
    Gap.TRIGGER: _trigger,
    Gap.FUNCTIONS: _functions,
    Gap.HISTORY: _history,
}
