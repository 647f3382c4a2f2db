"""Names that nobody gave: they are what state and offsets are found by after an upgrade."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import InternalKind, Repartition, StreamsStore
from headgate.model.version import Engine
from headgate.rules.core.measured_spark_versions import judged_version
from headgate.rules.core.source_names import names_count, names_known
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import Problem, rule
from headgate.rules.readiness.facts.subject import Subject

_TOGETHER = (
    "Name all stores and repartitions in one release: a named operator takes no number, so the "
    "numbers after it shift. `headgate diff` against this version shows whether all names stayed "
    "the same. Afterwards, ensure.explicit.internal.resource.naming=true (4.1 and newer, through "
    "a TopologyConfig) prevents new generated names."
)
_BY_OPERATOR = (
    ("JOINTHIS", "StreamJoined.withStoreName"),
    ("JOINOTHER", "StreamJoined.withStoreName"),
    ("OUTERTHIS", "StreamJoined.withStoreName"),
    ("OUTEROTHER", "StreamJoined.withStoreName"),
    ("OUTERSHARED", "StreamJoined.withStoreName"),
    ("SUPPRESS", "Suppressed.withName"),
    ("FK-JOIN", "TableJoined.as"),
)
_SETTINGS = (
    "spark.sql.streaming.queryEvolution.enableSourceEvolution=true and "
    "spark.sql.streaming.offsetLog.formatVersion=2"
)


_ = f"{{how}} {_TOGETHER}"


@rule(
    "RDY001",
    "measured on Kafka Streams 4.3.1; documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
    remedies=(_,),
)
def unnamed_store(s: Subject) -> Iterator[Problem]:
    """A generated name holds the operator's number.

    Inserting or removing an operator before it shifts the number. The store then starts empty and
    leaves its changelog behind, or uses the changelog of another one. Nothing fails.
    """
    for store in s.app.stores:
        # A store that is restored from its source topic finds its rows under any name.
        if store.is_generated and store.changelog and not store.restored_from:
            yield _store(store)


def _store(store: StreamsStore) -> Problem:
    call = next((c for word, c in _BY_OPERATOR if word in store.name), None)
    what = f"The store {store.name} has a generated name."
    if call is None:
        how = (
            f'Set its current name explicitly: Materialized.as("{store.name}") keeps its changelog.'
        )
    else:
        how = (
            f"Name it with {call}. This renames the store, which then starts empty once. Do it "
            "while the store has few rows, or together with a reset."
        )
    return Problem(
        severity=Severity.HIGH,
        location=store.node,
        what=what,
        remedy=_.format(how=how),
        keeps_state=call is None,
    )


@rule(
    "RDY002",
    "measured on Kafka Streams 4.3.1; documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
    remedies=(_,),
)
def unnamed_repartition(s: Subject) -> Iterator[Problem]:
    """The topic between two sub-topologies is named after an operator's number.

    If the number shifts, the application reads a new, empty topic, and never reads records that are
    still in the old one.
    """
    for repartition in s.app.repartitions:
        if repartition.is_generated:
            yield _repartition(repartition)


def _repartition(found: Repartition) -> Problem:
    base = found.name.removesuffix("-repartition")
    if found.kind is not InternalKind.REPARTITION:
        how = "Drain its topics, then name the foreign-key join with TableJoined.as."
    else:
        how = (
            f'Set its current name explicitly: Grouped.as("{base}") or '
            f'Repartitioned.as("{base}"). An aggregation\'s topic is named as its store. A join '
            "adds its own suffix to a name (Joined.as, StreamJoined.withName): there, stop the "
            "producers and let the topic drain first."
        )
    return Problem(
        severity=Severity.MEDIUM,
        location=found.node,
        what=f"The repartition topic {found.topic} has a generated name.",
        remedy=_.format(how=how),
        keeps_state=found.kind is InternalKind.REPARTITION,
    )


_WHEN_THE_QUERY = (
    "With the query's next new checkpoint, name every source (DataStreamReader.name, from Spark "
    f"4.2 on) and set {_SETTINGS}. On the current checkpoint, names have no effect: keep the "
    "number and order of the sources."
)


@rule("RDY003", "measured on Spark 4.2.0", Engine.SPARK, remedies=(_WHEN_THE_QUERY,))
def sources_by_position(s: Subject) -> Iterator[Problem]:
    """Spark keeps offsets by the position of a source in the query.

    If a source is later added, removed or swapped, the query fails to start, or one source gets the
    offsets of another.
    """
    spark = judged_version(s.version, s.version, None)
    several = len(s.sources) > 1 and not any(x.name for x in s.sources)
    if several and names_known(s.version) and spark.at_least(4, 2):
        yield Problem(
            severity=Severity.LOW,
            what=f"Only their order distinguishes the query's {len(s.sources)} sources.",
            remedy=_WHEN_THE_QUERY,
            keeps_state=False,
        )


_START_A_NEW = (
    f"Start a new checkpoint with {_SETTINGS}. Until then, keep the number and order of the "
    "sources."
)


@rule("RDY004", "measured on Spark 4.2.0", Engine.SPARK, remedies=(_START_A_NEW,))
def names_in_vain(s: Subject) -> Iterator[Problem]:
    """Names of sources count only if the checkpoint's first run had source evolution on, offset log
    format 2 and a name for every source. Otherwise Spark still keeps offsets by position.
    Reordering named sources then swaps their offsets.
    """
    named = [x.name for x in s.sources if x.name]
    known = s.version.pinned or s.settings_told
    if named and known and not names_count(s.version, s.version):
        yield Problem(
            severity=Severity.MEDIUM,
            location=next(x.node for x in s.sources if x.name),
            what=(
                f"The sources are named ({', '.join(named)}), but Spark keeps offsets by position."
            ),
            remedy=_START_A_NEW,
            keeps_state=False,
        )
