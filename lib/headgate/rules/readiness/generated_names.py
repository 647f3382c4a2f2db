"""Names that nobody gave: they are what state and offsets are found by after an upgrade."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import InternalKind, Repartition, StreamsStore
from headgate.model.version import Engine
from headgate.rules.core.measured_spark_versions import judged_version
from headgate.rules.core.source_names import names_count, names_known
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.subject import Subject

_TOGETHER = (
    "Name all stores and repartition topics in one deployment, because each new name shifts the "
    "numbers in later generated names. Compare with the current version (`headgate diff`) to see "
    "which names change. Then, with Kafka Streams 4.1 or newer, set "
    "ensure.explicit.internal.resource.naming=true and pass the settings to StreamsBuilder as a "
    "TopologyConfig: the build then fails on generated names."
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
    "measured on Kafka Streams 4.3.1; Kafka documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH,),
    remedies=(_,),
)
def unnamed_store(s: Subject) -> Iterator[Problem]:
    """The store has a generated name, which contains the operator's number.

    If you add or remove an earlier operator, the number shifts. The store then starts empty and
    its changelog remains unused, or the store restores the changelog of another store. Kafka
    Streams reports no error.
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
            f'Set the current name explicitly: Materialized.as("{store.name}") keeps the changelog.'
        )
    else:
        how = (
            f"Name the store with {call}. Under the new name the store starts empty once. Do "
            "this while the store has few rows, or together with a reset."
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
    "measured on Kafka Streams 4.3.1; Kafka documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_,),
)
def unnamed_repartition(s: Subject) -> Iterator[Problem]:
    """The repartition topic has a generated name, which contains an operator's number.

    If the number shifts, the application reads a new, empty topic. The application never reads the
    records that are still in the old topic.
    """
    for repartition in s.app.repartitions:
        if repartition.is_generated:
            yield _repartition(repartition)


def _repartition(found: Repartition) -> Problem:
    base = found.name.removesuffix("-repartition")
    if found.kind is not InternalKind.REPARTITION:
        how = (
            "Stop the producers, and let the application process all records in the topics of "
            "the foreign-key join. Then name the join with TableJoined.as."
        )
    else:
        how = (
            f'For a grouping, keep the topic by setting its current name: Grouped.as("{base}"). '
            f'For repartition(), use Repartitioned.as("{base}"). For an aggregation, also set the '
            "current name of its store with Materialized.as. A join can't keep the topic. Stop "
            "the producers and let the application process all records in the old topic. Then "
            "set Joined.as or StreamJoined.withName."
        )
    return Problem(
        severity=Severity.MEDIUM,
        location=found.node,
        what=f"The repartition topic {found.topic} has a generated name.",
        remedy=_.format(how=how),
        keeps_state=found.kind is InternalKind.REPARTITION,
    )


_WHEN_THE_QUERY = (
    "When the query next gets a new checkpoint, name every source (DataStreamReader.name, "
    f"from Spark 4.2 on) and set {_SETTINGS}. On the current checkpoint, names have no effect: "
    "keep the number and order of the sources."
)


@rule(
    "RDY003",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_WHEN_THE_QUERY,),
)
def sources_without_names(s: Subject) -> Iterator[Problem]:
    """Spark identifies sources without names by their position in the query.

    If you later add, remove or swap sources, the query fails to start, or a source gets the offsets
    of another source.
    """
    spark = judged_version(s.version, s.version, None)
    several = len(s.sources) > 1 and not any(x.name for x in s.sources)
    if several and names_known(s.version) and spark.at_least(4, 2):
        yield Problem(
            severity=Severity.LOW,
            what=(
                f"The query has {len(s.sources)} sources without names. Spark distinguishes them "
                "only by their order."
            ),
            remedy=_WHEN_THE_QUERY,
            keeps_state=False,
        )


_START_A_NEW = (
    f"Name every source, set {_SETTINGS}, and start the query with a new checkpoint. Until then, "
    "keep the number and order of the sources."
)


@rule(
    "RDY004",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_START_A_NEW,),
)
def source_names_without_effect(s: Subject) -> Iterator[Problem]:
    """Spark uses source names only if the checkpoint's first run used them. That needs source
    evolution, offset log format 2, and a name for every source.

    Otherwise Spark keeps offsets by position. If you then reorder named sources, their offsets are
    swapped.
    """
    named = [x.name for x in s.sources if x.name]
    known = s.version.pinned or s.settings_known
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
