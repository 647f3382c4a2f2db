"""Show all pipelines, topics and groups as one graph."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace

from headgate.errors import HeadgateError
from headgate.landscape.build import build
from headgate.landscape.landscape import Landscape, LandscapePipeline
from headgate.model.cluster import Cluster
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.spark.query.newest_offsets import with_report
from headgate.parse.spark.session.capture_json import read_reports
from headgate.parse.spark.watch.read import Life
from headgate.store import open_store
from headgate.usecases.activity.read_activity import read_activity
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_kafka_streams import read_streams
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.evidence.read_watch import read_newest
from headgate.usecases.evidence.watched_query import life_of

READERS = 8


def show_landscape(context: Context, cluster: Cluster | None) -> Landscape:
    """Combine the version of each registered pipeline that was observed last with the cluster.

    If no version is stored, the pipeline's checkpoint is read, or a Kafka Streams application's
    evidence and the cluster. Offsets of a stored version are as old as its last change. So the
    offsets of Spark checkpoints are read now. If a checkpoint can't be read, the lag is unknown,
    with a warning. Without a cluster, a warning says that Kafka wasn't read.
    """
    stored = _stored(context)
    fresh, warnings = _fresh(context, stored)
    versions = {
        name: _with_offsets_of(version, fresh.get(name)) for name, version in stored.items()
    }
    unseen = _applications(context, cluster, versions)
    landscape = build(context.registry, {**unseen, **fresh, **versions}, cluster)
    return replace(
        landscape,
        pipelines=_with_status(context, landscape.pipelines),
        warnings=(*landscape.warnings, *warnings),
    )


def _with_status(
    context: Context, pipelines: tuple[LandscapePipeline, ...]
) -> tuple[LandscapePipeline, ...]:
    """Say how each pipeline was seen last, where somebody looked."""
    seen = {name: a for name, a in read_activity(context).items() if a.looked_at}
    return tuple(
        replace(p, status=seen[p.name].state.value, status_why=seen[p.name].reason)
        if p.name in seen
        else p
        for p in pipelines
    )


def _stored(context: Context) -> dict[str, Version]:
    with closing(open_store(context.store_url)) as store:
        return store.versions.all_running(p.name for p in context.registry.pipelines)


def _applications(
    context: Context, cluster: Cluster | None, versions: Mapping[str, Version]
) -> dict[str, Version]:
    """Read Kafka Streams applications that the worker has not stored; it says what fails."""
    out: dict[str, Version] = {}
    for pipeline in context.registry.pipelines:
        if pipeline.engine is Engine.KAFKA_STREAMS and pipeline.name not in versions:
            with suppress(HeadgateError):
                out[pipeline.name] = read_streams(context, pipeline, cluster, versions)
    return out


def _fresh(context: Context, stored: Mapping[str, Version]) -> tuple[dict[str, Version], list[str]]:
    """Read all checkpoints and watches side by side: remote ones take their time."""
    pipelines = [
        p for p in context.registry.pipelines if p.checkpoint or (p.watch and p.name in stored)
    ]
    with ThreadPoolExecutor(READERS) as pool:
        found = list(pool.map(lambda p: _read(context, p, stored.get(p.name)), pipelines))
    pairs = list(zip(pipelines, found, strict=True))
    versions = {p.name: v for p, v in pairs if isinstance(v, Version)}
    warnings = [
        f"The lag of {p.name} is unknown, because its checkpoint can't be read: {error}."
        for p, error in pairs
        if isinstance(error, HeadgateError)
    ]
    return versions, warnings


def _read(context: Context, pipeline: Pipeline, stored: Version | None) -> Version | HeadgateError:
    """Return the version with its newest offsets; without a checkpoint the watch has them."""
    if pipeline.checkpoint is None:
        assert stored is not None
        return _watched(context, pipeline, stored)
    try:
        version = read_version([pipeline.checkpoint], context=context)
    except HeadgateError as error:
        return error
    return _watched(context, pipeline, version)


def _watched(context: Context, pipeline: Pipeline, version: Version) -> Version:
    """Return the version with the offsets of its watch, if those are newer.

    A watch that can't be read is reported where the pipeline's state is shown.
    """
    if pipeline.watch is None:
        return version
    with suppress(HeadgateError):
        watched = read_newest(pipeline.watch, context)
        if pipeline.checkpoint is None:
            version = _of_newest_query(version, life_of(pipeline, watched, context))
        runs = watched.log.runs
        for report in read_reports([r.newest for r in runs if r.newest is not None]):
            version = with_report(version, report)
    return version


def _of_newest_query(version: Version, life: Life | None) -> Version:
    """Return the version for the reports of the query's newest id: a reset changes it."""
    if life is None or life.query_id == version.query_id:
        return version
    return replace(version, query_id=life.query_id, progress=None)


def _with_offsets_of(version: Version, fresh: Version | None) -> Version:
    """Return the version with the fresh offsets, source by source; none is known without."""
    now = {s.position: s.offsets for s in (fresh.sources or () if fresh else ())}
    if version.sources is None:
        return (
            version
            if fresh is None
            else replace(version, sources=fresh.sources, progress=fresh.progress)
        )
    sources = tuple(replace(s, offsets=now.get(s.position)) for s in version.sources)
    return replace(version, sources=sources, progress=fresh.progress if fresh else None)
