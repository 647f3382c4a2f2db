"""Check one version of a pipeline for risks of its next upgrade, reset or failover."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from headgate.errors import EvidenceError, HeadgateError, NotFoundError
from headgate.model.activity import Activity
from headgate.model.cluster import Cluster
from headgate.model.evidence_kinds import LOGS, EvidenceKind
from headgate.model.progress import BatchProgress
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.rules.core.acceptances import accept_findings
from headgate.rules.readiness.check import check
from headgate.rules.readiness.facts.report import ReadinessReport
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import OwnQuery, own_query

_NUMBERED = re.compile(r"@\d{1,18}$")
_REPORTS = LOGS | {EvidenceKind.PROGRESS}


def check_readiness(
    evidence: Sequence[str],
    *,
    context: Context | None = None,
    query: str | None = None,
    ask_kafka: bool | None = None,
    now: datetime | None = None,
) -> ReadinessReport:
    """Read a version and check it; nothing is written and no engine is started.

    `ask_kafka` True also checks the cluster of headgate.toml: raises UnreachableError if Kafka
    doesn't respond, ConfigError if no cluster is configured. None does so only for a registered
    pipeline, and if Kafka doesn't respond, the report has a warning. Raises the errors of
    `read_version`, and CaptureError if a `module:function` fails.
    """
    pipeline = _registered(evidence, context)
    # A group's offsets are part of the reading; a query's are in the evidence, which comes first.
    of_group = pipeline is not None and pipeline.engine is not Engine.SPARK
    seen = _cluster(context, pipeline, ask_kafka) if of_group else None
    version = _version(evidence, context, query, pipeline, seen[0] if seen else None)
    if _asks_kafka(context, pipeline, ask_kafka) and version.engine is Engine.SPARK:
        from headgate.usecases.evidence.read_cluster_for_version import with_offsets_now

        version = with_offsets_now(evidence, version, context)
    cluster, warning = seen or _cluster(context, pipeline, ask_kafka)
    report = check_version(
        version,
        context=context,
        pipeline=pipeline,
        cluster=cluster,
        evidence=evidence,
        newest=_newest(evidence, version, context, query, pipeline),
        now=now,
    )
    return replace(report, warnings=(*report.warnings, *warning))


def check_version(
    version: Version,
    *,
    context: Context | None = None,
    pipeline: Pipeline | None = None,
    cluster: Cluster | None = None,
    evidence: Sequence[str] = (),
    newest: BatchProgress | None = None,
    now: datetime | None = None,
) -> ReadinessReport:
    """Check a version that was already read; findings that headgate.toml accepts are marked."""
    report = check(
        version,
        cluster=cluster,
        activity=_activity(context, pipeline),
        checkpoint=pipeline.checkpoint if pipeline else None,
        group=pipeline.group if pipeline else None,
        newest=newest,
        now=now,
    )
    named = replace(report, name=pipeline.name) if pipeline else report
    return _accepted(named, version, context, pipeline, evidence)


def _registered(evidence: Sequence[str], context: Context | None) -> Pipeline | None:
    """Return the pipeline that the evidence names; an existing path wins over a name."""
    if context is None or len(evidence) != 1 or os.path.exists(evidence[0]):  # noqa: PTH110
        return None
    return context.registry.pipeline(_NUMBERED.sub("", evidence[0]))


def _cluster(
    context: Context | None, pipeline: Pipeline | None, ask_kafka: bool | None
) -> tuple[Cluster | None, tuple[str, ...]]:
    """Return Kafka as it is now, and a warning where it was to be had and did not answer."""
    if not _asks_kafka(context, pipeline, ask_kafka):
        return None, ()
    from headgate.usecases.evidence.read_cluster import read_cluster

    try:
        return replace(read_cluster(context or _no_context()), after_evidence=True), ()
    except HeadgateError as error:
        if ask_kafka:
            raise
        return None, (f"Headgate could not read the Kafka cluster state: {error}",)


def _asks_kafka(context: Context | None, pipeline: Pipeline | None, asked: bool | None) -> bool:
    configured = context is not None and bool(context.registry.bootstrap_servers)
    return asked or (asked is None and configured and pipeline is not None)


def _no_context() -> Context:
    from headgate.usecases.context import open_context

    return open_context()


def _version(
    evidence: Sequence[str],
    context: Context | None,
    query: str | None,
    pipeline: Pipeline | None,
    cluster: Cluster | None,
) -> Version:
    """Read files without the store and without Spark; a pipeline as it is stored, else as it is."""
    # Unlike Path.exists, this is False for what is too long or lies where nobody may look.
    if all(os.path.exists(e) for e in evidence):  # noqa: PTH110
        from headgate.usecases.evidence.read_version import read_version

        return read_version(evidence, context=context, query=query)
    from headgate.usecases.evidence.capture import capture

    try:
        return capture(evidence, context=context, query=query)
    except (EvidenceError, NotFoundError):
        found = _unstored(evidence, context, pipeline, cluster)
        if found is None:
            raise
        return found


def _unstored(
    evidence: Sequence[str],
    context: Context | None,
    pipeline: Pipeline | None,
    cluster: Cluster | None,
) -> Version | None:
    """Read a registered pipeline of which no version is stored yet, where no number was asked."""
    if context is None or pipeline is None or _NUMBERED.search(evidence[0]):
        return None
    if pipeline.engine is Engine.CONSUMER_GROUP:
        return Version(engine=pipeline.engine, name=pipeline.name)
    with suppress(HeadgateError):
        if pipeline.engine is Engine.KAFKA_STREAMS:
            from headgate.usecases.evidence.read_kafka_streams import read_streams

            return read_streams(context, pipeline, cluster)
        from headgate.usecases.evidence.read_registered import read_registered

        return read_registered(context, pipeline)
    return None


def _newest(
    evidence: Sequence[str],
    version: Version,
    context: Context | None,
    query: str | None,
    pipeline: Pipeline | None,
) -> BatchProgress | None:
    """Return the newest batch that was reported; None where nothing reports any."""
    own: str | OwnQuery | None = query
    if pipeline is not None and context is not None:
        watched = [pipeline.watch] if pipeline.watch else []
        places, own = [*pipeline.evidence, *watched], own_query(pipeline, context)
    else:
        told = any(e.kind in _REPORTS for e in version.evidence)
        places = [e for e in evidence if told and os.path.exists(e)]  # noqa: PTH110
    if not places or version.engine is not Engine.SPARK:
        return None
    from headgate.usecases.evidence.read_progress import read_progress

    with suppress(HeadgateError):
        return next(reversed(read_progress(places, context=context, query=own)), None)
    return None


def _activity(context: Context | None, pipeline: Pipeline | None) -> Activity | None:
    """Return how a registered pipeline was seen last; None where there is no store to ask."""
    if context is None or pipeline is None:
        return None
    from headgate.usecases.activity.read_activity import read_activity

    with suppress(HeadgateError):
        return read_activity(context, pipeline.name).get(pipeline.name)
    return None


def _accepted(
    report: ReadinessReport,
    version: Version,
    context: Context | None,
    pipeline: Pipeline | None,
    evidence: Sequence[str],
) -> ReadinessReport:
    """Mark the findings that headgate.toml accepts; what holds no longer becomes a warning."""
    if context is None or not context.registry.accepts:
        return report
    from headgate.usecases.compare.apply_acceptances import ground_of

    ground = ground_of(context, (version,), evidence, pipeline.name if pipeline else None)
    return accept_findings(report, context.registry.accepts, ground, lambda f: (f.location,))
