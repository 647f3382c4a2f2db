"""Compare two versions of a pipeline: what the engine will do when the new one resumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headgate.model.cluster import Cluster
from headgate.model.version import Engine, Version
from headgate.rules.compare.after_failed_start import with_aftermath
from headgate.rules.compare.evidence_warnings import with_readers_warnings
from headgate.rules.compare.not_checked import unseen
from headgate.rules.compare.other_engines import judge_other
from headgate.rules.core.declared_renames import Renames, read_renames
from headgate.rules.core.graph_changes import changes
from headgate.rules.core.match_operators import (
    engine_pairs,
    match_nodes,
    match_operators,
    match_sources,
)
from headgate.rules.core.measured_spark_versions import judged_version
from headgate.rules.core.report import Finding, Report, labels_of
from headgate.rules.core.rule import Comparison, Rule
from headgate.rules.core.source_names import names_count
from headgate.rules.spark.facts.cluster_offsets import too_old
from headgate.rules.spark.facts.partial_plan import counted


def compare(
    before: Version,
    after: Version,
    *,
    renames: Sequence[str] = (),
    spark_version: str | None = None,
    cluster: Cluster | None = None,
    rules: Sequence[Rule] | None = None,
) -> Report:
    """Return findings (worst first), changes and matches; pure, so a page may call it any time.

    `cluster` is Kafka as it is now; None where nobody was asked: what only it knows stays open. One
    that was read before the offsets of `before` decides nothing, and a warning says so.
    `renames` are `KIND:OLD=NEW`; a wrong one raises `RenameError`. `rules` are
    Spark's where None; Kafka Streams has rules of its own. Versions of different engines, and
    consumer groups, get `unknown` with its question.
    """
    declared = read_renames(renames, before, after)
    report = _judged(before, after, declared, spark_version, cluster, rules)
    report = with_readers_warnings(report, before, after)
    return replace(report, labels=labels_of(report, before, after))


def _judged(
    before: Version,
    after: Version,
    declared: Renames,
    spark_version: str | None,
    cluster: Cluster | None,
    rules: Sequence[Rule] | None,
) -> Report:
    """Let the rules of the engine speak; those of the other one are not imported."""
    if before.engine is after.engine is Engine.KAFKA_STREAMS:
        from headgate.rules.compare.kafka_streams import compare_streams

        return compare_streams(before, after, declared, cluster)
    if before.engine is not after.engine or before.engine is not Engine.SPARK:
        return judge_other(before, after)
    before, after = counted(before), counted(after)
    old_reading = too_old(before, cluster)
    cluster = None if old_reading else cluster
    comparison = _comparison(before, after, declared, spark_version, cluster)
    found = [f for rule in rules or _rules() for f in rule.run(comparison)]
    return Report(
        findings=_worst_first(with_aftermath(found, comparison)),
        changes=changes(before, after, comparison.nodes, declared.nodes),
        matches=comparison.nodes.pairs,
        judged_for=_judged_for(comparison),
        warnings=(*([old_reading] if old_reading else []), *unseen(comparison)),
    )


def _rules() -> Sequence[Rule]:
    from headgate.rules.spark.codes import RULES

    return RULES


def _comparison(
    before: Version,
    after: Version,
    renames: Renames,
    given: str | None,
    cluster: Cluster | None,
) -> Comparison:
    operators = match_operators(before, after)
    by_name = names_count(before, after)
    sources = match_sources(before, after, by_name=by_name, renames=renames.sources)
    anchors = engine_pairs(operators, sources)
    return Comparison(
        before=before,
        after=after,
        spark=judged_version(before, after, given),
        operators=operators,
        sources=sources,
        nodes=match_nodes(before.topology, after.topology, anchors, declared=renames.nodes),
        renames=renames.sources,
        cluster=cluster,
    )


def _judged_for(c: Comparison) -> str:
    """Name the engine's version, and when Kafka was checked."""
    kafka = f" against Kafka as of {c.cluster.at}" if c.cluster else ""
    return f"spark {c.spark.text}{kafka}"


def _worst_first(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Sort by outcome; findings of one outcome keep the rules' order."""
    return tuple(sorted(found, key=lambda f: -f.outcome))
