"""Look at one version: what will make its next upgrade, reset or fail-over hurt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from headgate.model.activity import Activity
from headgate.model.cluster import Cluster
from headgate.model.progress import BatchProgress
from headgate.model.version import Engine, Version
from headgate.rules.core.source_names import family
from headgate.rules.readiness.codes import RULES
from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport
from headgate.rules.readiness.facts.rule import ReadinessRule
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.cluster_offsets import too_old

_REGISTERED = "a cluster in headgate.toml and --cluster tell"


def not_seen(s: Subject) -> tuple[str, ...]:
    """Return one sentence for each thing that no evidence told, in fixed order."""
    spark = s.version.engine is Engine.SPARK
    return tuple(_spark(s) if spark else _streams(s))


def _spark(s: Subject) -> Iterator[str]:
    if s.version.sources is None:
        yield "Not looked at: the sources. Explain text, progress or the checkpoint tells them."
    elif any(not x.options and family(x) in ("kafka", "file") for x in s.sources):
        yield (
            "Not looked at: options of the sources (starting offsets, limits, failOnDataLoss). "
            "`headgate capture module:function` tells them."
        )
    if s.version.stateful is None:
        yield "Not looked at: the state. A plan, or the checkpoint with its state, tells it."
    elif any(o.keys is None for o in s.stateful):
        yield "Not looked at: what the state is kept by. A plan tells it."
    if s.version.sink is None or not s.version.sink.format:
        yield "Not looked at: the sink. A plan of the running query, or a capture, tells it."
    if not s.settings_told:
        yield "Not looked at: the session's settings. A capture, conf.json or an event log tells."
    if s.place is None:
        yield "Not looked at: where the checkpoint is. headgate.toml or a plan tells it."
    if s.stateful and s.newest is None:
        yield "Not looked at: how large the state is. Query progress tells it."
    if s.version.engine_version is None:
        yield "Not looked at: whether this release of Spark is still mended; no evidence names it."
    if old_reading := too_old(s.version, s.cluster):
        yield old_reading.replace("Compare again", "Check again")
    if any(family(x) == "kafka" for x in s.sources):
        yield from _kafka(
            s, "how much history its topics have, how near its position is to the edge"
        )


def _streams(s: Subject) -> Iterator[str]:
    if s.version.engine is Engine.KAFKA_STREAMS:
        if not s.app.described:
            yield "Not looked at: operators and sinks. Topology#describe() tells them."
        if not s.app.config:
            yield (
                "Not looked at: the configuration (handlers, standbys, time-outs, state.dir). "
                "config.json, or the log's `StreamsConfig values:`, tells it."
            )
        if s.app.internal is None:
            yield "Not looked at: internal topics. The cluster, or internal_topics.json, tells."
        elif s.app.stores and s.cluster is not None and not _sized(s):
            yield "Not looked at: how long stores take to restore; their sizes could not be read."
    yield from _kafka(s, "history of the inputs, positions, sizes of stores, expiry of offsets")


def _sized(s: Subject) -> bool:
    topics = [s.topic(x.changelog or x.restored_from) for x in s.app.stores]
    return any(t is not None and t.bytes is not None for t in topics)


def _kafka(s: Subject, what: str) -> Iterator[str]:
    if s.cluster is None:
        yield f"Not looked at: Kafka ({what}); {_REGISTERED}."
    elif not s.cluster.broker_settings and s.version.engine is not Engine.SPARK:
        yield "Not looked at: when offsets expire; the brokers' settings could not be read."


def check(
    version: Version,
    *,
    cluster: Cluster | None = None,
    activity: Activity | None = None,
    checkpoint: str | None = None,
    group: str | None = None,
    newest: BatchProgress | None = None,
    now: datetime | None = None,
    rules: Sequence[ReadinessRule] = RULES,
) -> ReadinessReport:
    """Return the findings, worst first; pure, so a page may call it any time.

    `checkpoint` and `group` are the registry's, `newest` the newest batch that was reported.
    What is None was not looked at: then the rules that need it stay silent, and a warning says so.
    """
    subject = Subject(
        version=version,
        cluster=cluster,
        activity=activity,
        checkpoint=checkpoint,
        group_id=group,
        newest=newest,
        now=now or datetime.now(UTC),
    )
    found = [f for rule in rules for f in rule.run(subject)]
    return ReadinessReport(
        name=version.name or group or subject.app.application_id,
        engine=version.engine.value,
        findings=_worst_first(found),
        warnings=not_seen(subject),
    )


def _worst_first(found: Sequence[ReadinessFinding]) -> tuple[ReadinessFinding, ...]:
    """Sort by severity; findings of one severity keep the rules' order."""
    return tuple(sorted(found, key=lambda f: -f.severity))
