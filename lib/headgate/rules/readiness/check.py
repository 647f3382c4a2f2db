"""Check one version: what will make its next upgrade, reset or fail-over hurt."""

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

_REGISTERED = (
    "Set bootstrap_servers under [kafka] in headgate.toml. On the command line, also pass --cluster"
)


def not_seen(s: Subject) -> tuple[str, ...]:
    """Return one sentence for each thing that no evidence shows, in fixed order."""
    spark = s.version.engine is Engine.SPARK
    return tuple(_spark(s) if spark else _streams(s))


def _spark(s: Subject) -> Iterator[str]:
    if s.version.sources is None:
        yield (
            "Not checked: the sources. Add explain text, query progress or the checkpoint to the "
            "evidence."
        )
    elif any(not x.options and family(x) in ("kafka", "file") for x in s.sources):
        yield (
            "Not checked: options of the sources (starting offsets, rate limits, "
            "failOnDataLoss). Run `headgate capture module:function` to read them."
        )
    if s.version.stateful is None:
        yield (
            "Not checked: the state. Add a query plan, or the checkpoint with its state, to the "
            "evidence."
        )
    elif any(o.keys is None for o in s.stateful):
        yield "Not checked: the keys of the state. Add a query plan to the evidence."
    yield from _spark_session(s)
    if s.stateful and s.newest is None:
        yield "Not checked: the size of the state. Add query progress to the evidence."
    if s.version.engine_version is None:
        yield (
            "Not checked: whether the query's Spark release still gets bug fixes. Add an event log "
            "or a capture to the evidence: both contain the release."
        )
    if old_reading := too_old(s.version, s.cluster):
        yield old_reading.replace("Compare again", "Check again")
    if any(family(x) == "kafka" for x in s.sources):
        yield from _kafka(
            s, "retention of the topics, and how close the query is to the earliest offsets"
        )


def _spark_session(s: Subject) -> Iterator[str]:
    if s.version.sink is None or not s.version.sink.format:
        yield (
            "Not checked: the sink. Add the query plan of the running query, or a capture, to the "
            "evidence."
        )
    if not s.settings_known:
        yield (
            "Not checked: the session's settings. Add a capture, conf.json or an event log to the "
            "evidence."
        )
    if s.checkpoint_path is None:
        yield (
            "Not checked: the location of the checkpoint. Set `checkpoint` in headgate.toml, or "
            "add a query plan to the evidence."
        )


def _streams(s: Subject) -> Iterator[str]:
    if s.version.engine is Engine.KAFKA_STREAMS:
        if not s.app.described:
            yield (
                "Not checked: operators and sinks. Add the text of Topology#describe() to the "
                "evidence."
            )
        if not s.app.config:
            yield (
                "Not checked: the configuration (exception handlers, standby replicas, "
                "timeouts, state.dir). Add config.json, or the log that contains `StreamsConfig "
                "values:`, to the evidence."
            )
        if s.app.internal is None:
            yield (
                f"Not checked: internal topics. {_REGISTERED}. Or add internal_topics.json to the "
                "evidence."
            )
        elif s.app.stores and s.cluster is not None and not _sized(s):
            yield (
                "Not checked: how long stores take to restore. Headgate couldn't read the sizes "
                "of the changelogs. This needs the ACL Describe on the cluster and the jars of "
                "Kafka's Java client. If the jars are missing, `headgate doctor` says how to get "
                "them."
            )
    yield from _kafka(
        s, "history of the input topics, consumer lag, sizes of stores, expiry of committed offsets"
    )


def _sized(s: Subject) -> bool:
    topics = [s.topic(x.changelog or x.restored_from) for x in s.app.stores]
    return any(t is not None and t.bytes is not None for t in topics)


def _kafka(s: Subject, what: str) -> Iterator[str]:
    if s.cluster is None:
        yield f"Not checked: Kafka ({what}). {_REGISTERED}."
    elif not s.cluster.broker_settings and s.version.engine is not Engine.SPARK:
        yield (
            "Not checked: when committed offsets expire. Headgate couldn't read the brokers' "
            "settings. This needs the ACL DescribeConfigs on the cluster."
        )


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
    What is None was not checked: then the rules that need it stay silent, and a warning says so.
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
