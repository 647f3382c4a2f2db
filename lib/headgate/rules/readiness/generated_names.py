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
    "Name all stores and repartitions in one release: a name takes no number, so those behind it "
    "shift. `headgate diff` against this version shows whether every name is still the old one; "
    "ensure.explicit.internal.resource.naming=true (4.1 and newer, through a TopologyConfig) then "
    "keeps it so."
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


@rule(
    "RDY001",
    "measured on Kafka Streams 4.3.1; documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
)
def unnamed_store(s: Subject) -> Iterator[Problem]:
    """A generated name holds the operator's number. Whoever inserts or removes an operator
    before it shifts the number: the store starts empty and leaves its changelog behind, or
    takes over the changelog of another one. Nothing fails.
    """
    for store in s.app.stores:
        # A store that is restored from its source topic finds its rows under any name.
        if store.is_generated and store.changelog and not store.restored_from:
            yield _store(store)


def _store(store: StreamsStore) -> Problem:
    call = next((c for word, c in _BY_OPERATOR if word in store.name), None)
    what = f"The store {store.name} has a generated name."
    if call is None:
        how = f'Give it the name that it has: Materialized.as("{store.name}") keeps its changelog.'
    else:
        how = (
            f"Name it with {call}. That gives the store another name: what it holds is left "
            "behind once, so do it while little is held, or with a reset."
        )
    return Problem(
        severity=Severity.HIGH,
        location=store.node,
        what=what,
        remedy=f"{how} {_TOGETHER}",
        keeps_state=call is None,
    )


@rule(
    "RDY002",
    "measured on Kafka Streams 4.3.1; documentation: Naming Operators",
    Engine.KAFKA_STREAMS,
)
def unnamed_repartition(s: Subject) -> Iterator[Problem]:
    """The topic between two sub-topologies is called after an operator's number. When the
    number shifts, the application reads a new, empty topic: records that were still in the old
    one are never read.
    """
    for repartition in s.app.repartitions:
        if repartition.is_generated:
            yield _repartition(repartition)


def _repartition(found: Repartition) -> Problem:
    base = found.name.removesuffix("-repartition")
    if found.kind is not InternalKind.REPARTITION:
        how = "Name the foreign-key join with TableJoined.as, after its topics were drained."
    else:
        how = (
            f'Name what makes it, with the name that it has: Grouped.as("{base}") or '
            f'Repartitioned.as("{base}"); an aggregation\'s is called as its store. A join '
            "adds its own ending to a name (Joined.as, StreamJoined.withName): there, stop the "
            "writers and let the topic drain first."
        )
    return Problem(
        severity=Severity.MEDIUM,
        location=found.node,
        what=f"The repartition topic {found.topic} has a generated name.",
        remedy=f"{how} {_TOGETHER}",
        keeps_state=found.kind is InternalKind.REPARTITION,
    )


@rule("RDY003", "measured on Spark 4.2.0", Engine.SPARK)
def sources_by_place(s: Subject) -> Iterator[Problem]:
    """Offsets are kept by a source's place in the query. Adding, removing or exchanging a
    source later is refused, or gives one source the offsets of another.
    """
    spark = judged_version(s.version, s.version, None)
    several = len(s.sources) > 1 and not any(x.name for x in s.sources)
    if several and names_known(s.version) and spark.at_least(4, 2):
        yield Problem(
            severity=Severity.LOW,
            what=f"The query tells its {len(s.sources)} sources apart by their order alone.",
            remedy="When the query gets a new checkpoint anyway, name every source "
            f"(DataStreamReader.name, from Spark 4.2 on) and set {_SETTINGS}. On the checkpoint "
            "that it has, names have no effect: keep number and order of the sources.",
            keeps_state=False,
        )


@rule("RDY004", "measured on Spark 4.2.0", Engine.SPARK)
def names_in_vain(s: Subject) -> Iterator[Problem]:
    """Names of sources count only where the checkpoint was begun with source evolution switched
    on, the offset log in format 2 and every source named. Otherwise offsets are still kept by
    place, and whoever trusts the names exchanges offsets.
    """
    named = [x.name for x in s.sources if x.name]
    known = s.version.pinned or s.settings_told
    if named and known and not names_count(s.version, s.version):
        yield Problem(
            severity=Severity.MEDIUM,
            location=next(x.node for x in s.sources if x.name),
            what=f"The sources are named ({', '.join(named)}), but offsets are kept by place.",
            remedy=f"Begin a new checkpoint with {_SETTINGS}; until then keep number and order of "
            "the sources.",
            keeps_state=False,
        )
