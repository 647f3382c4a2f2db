"""Compare two versions of a pipeline, from any evidence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headgate.model.cluster import Cluster
from headgate.model.version import Engine, Version
from headgate.parse.evidence.few_warnings import few
from headgate.parse.evidence.version_file import KIND, check_graph, dump, load
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Report
from headgate.usecases.compare.apply_acceptances import pipelines_of, with_acceptances
from headgate.usecases.context import Context

_HEAD = 200


def read_version_file(place: str) -> Version | None:
    """Return the version in a local file that `headgate capture` wrote, None for anything else.

    The result is that of `read_version`. But this function doesn't import the parsers of plans,
    logs and checkpoints, because the imports take most of the time of a comparison. Raises
    ParseError if the file is damaged or from a newer release.
    """
    path = Path(place)
    try:
        if not path.is_file():
            return None
        data = path.read_bytes()
    except (OSError, ValueError):
        return None
    if not data.startswith(b"{") or f'"{KIND}"'.encode() not in data[:_HEAD]:
        return None
    version = load(data, source=place)
    check_graph(version.topology, source=place)
    return replace(version, warnings=few(version.warnings))


_ITSELF = (
    "The old and the new version have the same evidence, so Headgate compared the version with "
    "itself."
)


def compare_versions(
    before: Sequence[str],
    after: Sequence[str],
    *,
    context: Context | None = None,
    renames: Sequence[str] = (),
    spark_version: str | None = None,
    query: str | None = None,
    ask_kafka: bool = False,
    pipeline: str | None = None,
) -> Report:
    """Read both sides and compare them; nothing is written and no engine is started.

    A side may also be a `module:function`. `ask_kafka` also compares with the current state of the
    cluster in headgate.toml: raises UnreachableError if it doesn't respond, ConfigError if no
    cluster is configured. If the output or a schema changed, registered pipelines and schemas are
    checked, too. Raises EvidenceError if a side can't be read, RenameError for an invalid rename,
    and CaptureError if a function fails. Findings that headgate.toml accepts are marked; `pipeline`
    names the pipeline whose acceptances count, if the evidence doesn't show it.
    """
    before, after = tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after))
    old, new = read_sides(before, after, context, query)
    if ask_kafka:
        from headgate.usecases.evidence.read_cluster_for_version import with_offsets_now

        old = with_offsets_now(before, old, context)
    report = report_on(
        old,
        new,
        context=context,
        evidence=(*before, *after),
        pipeline=pipeline,
        ask_kafka=ask_kafka,
        renames=renames,
        spark_version=spark_version,
    )
    if set(before) == set(after):
        report = replace(report, warnings=(_ITSELF, *report.warnings))
    return report


def report_on(
    old: Version,
    new: Version,
    *,
    context: Context | None,
    evidence: Sequence[str],
    pipeline: str | None = None,
    ask_kafka: bool = False,
    renames: Sequence[str] = (),
    spark_version: str | None = None,
) -> Report:
    """Compare two versions that were read from `evidence`, also with today's topics and schemas."""
    old, new = identified((old, new), context, evidence, pipeline)
    cluster = None
    if ask_kafka:
        from headgate.usecases.evidence.read_cluster_for_version import read_kafka

        cluster = read_kafka(context, old)
    report = compare(old, new, renames=renames, spark_version=spark_version, cluster=cluster)
    report = judge_downstream(report, old, new, context)
    return with_acceptances(report, old, new, context=context, evidence=evidence, pipeline=pipeline)


def identified(
    versions: tuple[Version, Version],
    context: Context | None,
    evidence: Sequence[str],
    pipeline: str | None = None,
) -> tuple[Version, Version]:
    """Return both versions with the application id that headgate.toml registers for the evidence.

    A description by itself has no application id. If several or no applications match, both
    versions are returned unchanged.
    """
    old, new = versions
    if context is None or old.engine is not Engine.KAFKA_STREAMS or new.engine is not old.engine:
        return versions
    names = {pipeline} if pipeline else set(pipelines_of(context, evidence))
    groups = {p.group for p in context.registry.pipelines if p.name in names and p.group}
    if len(groups) != 1:
        return versions
    from headgate.parse.kafka_streams.from_cluster import with_application_id

    (group,) = groups
    return with_application_id(old, group), with_application_id(new, group)


def judge_downstream(report: Report, old: Version, new: Version, context: Context | None) -> Report:
    """Return the report with findings about the registered pipelines and schemas."""
    known = context.registry if context else None
    if not known or not (known.pipelines or known.schema_registry_url or known.topics):
        return report
    # What reads schemas is imported only where there may be some.
    from headgate.usecases.compare.downstream_impact import with_downstream_impact

    return with_downstream_impact(report, old, new, context)


def compare_read(
    before: Version,
    after: Version,
    cluster: Cluster | None = None,
    renames: Sequence[str] = (),
) -> Report:
    """Compare two versions that were already read; acceptances aren't applied.

    Raises RenameError for an invalid rename.
    """
    old, new = _as_from_a_file(before), _as_from_a_file(after)
    return compare(old, new, renames=renames, cluster=cluster)


def _as_from_a_file(version: Version) -> Version:
    """Return the version as it comes back from a file: tuples beside lists are no difference."""
    return load(dump(version), source="the evidence")


def read_sides(
    before: Sequence[str],
    after: Sequence[str],
    context: Context | None,
    query: str | None = None,
) -> tuple[Version, Version]:
    """Return the versions of both sides.

    A capture starts a separate Spark session, which takes most of the time. If both sides need one,
    both start at once. If both fail, the error of the first side is raised.
    """
    if not (_is_captured(before) and _is_captured(after)):
        return read_side(before, context, query), read_side(after, context, query)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2, thread_name_prefix="capture") as threads:
        old, new = (threads.submit(read_side, s, context, query) for s in (before, after))
        return old.result(), new.result()


def _is_captured(evidence: Sequence[str]) -> bool:
    if not any(":" in e for e in evidence):
        return False
    from headgate.usecases.evidence.capture import is_function

    return any(map(is_function, evidence))


def read_side(
    evidence: Sequence[str], context: Context | None, query: str | None = None
) -> Version:
    """Return the version of the evidence, which may include a `module:function`.

    Files are read without the store and without Spark, because a check in CI has neither.
    """
    if len(evidence) == 1 and query is None:
        version = read_version_file(evidence[0])
        if version is not None:
            return version
    # Unlike Path.exists, this is False for what is too long or lies where nobody may look.
    if all(os.path.exists(e) for e in evidence):  # noqa: PTH110
        from headgate.usecases.evidence.read_version import read_version

        return _as_from_a_file(read_version(evidence, context=context, query=query))
    from headgate.usecases.evidence.capture import capture

    return capture(evidence, context=context, query=query)
