"""Read every registered pipeline, and store a version if its content changed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from headgate.errors import HeadgateError
from headgate.model.cluster import Cluster
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import Store, open_store
from headgate.store.rows import ACTIVE_RUNS, Origin
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_cluster_for_version import topic_ids
from headgate.usecases.evidence.read_kafka_streams import read_streams
from headgate.usecases.evidence.read_registered import read_registered


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The result for one pipeline: the `number` of its new version, or the `problem`."""

    pipeline: str
    number: int | None = None
    problem: str | None = None

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.pipeline}: stored as new version {self.number}"
        return f"{self.pipeline}: {self.problem}"


def refresh_versions(context: Context) -> list[Refreshed]:
    """Store the new versions, and return them with the pipelines that couldn't be read.

    For a Spark query, the checkpoint is read together with registered evidence, or with the watch.
    Not read now: pipelines with an active run, queries without a completed batch, and Kafka Streams
    applications while the cluster doesn't respond.
    """
    with closing(open_store(context.store_url)) as store:
        busy = {row.pipeline for row in store.runs.list(ACTIVE_RUNS)}
        free = [p for p in context.registry.pipelines if p.name not in busy]
        streams = [p for p in free if p.engine is Engine.KAFKA_STREAMS]
        found = [_refresh(context, store, p) for p in free if p not in streams]
        found += _refresh_streams(context, store, streams) if streams else []
    return [f for f in found if f is not None]


def _refresh_streams(
    context: Context, store: Store, pipelines: list[Pipeline]
) -> list[Refreshed | None]:
    """Read Kafka once for all applications."""
    try:
        cluster = read_cluster(context) if context.registry.bootstrap_servers else None
    except HeadgateError as error:
        return [Refreshed(p.name, problem=str(error)) for p in pipelines]
    known = {p.name: store.versions.running(p.name) for p in pipelines}
    others = {name: version for name, version in known.items() if version is not None}
    return [_application(context, store, p, cluster, others) for p in pipelines]


def _application(
    context: Context,
    store: Store,
    pipeline: Pipeline,
    cluster: Cluster | None,
    others: dict[str, Version],
) -> Refreshed | None:
    if cluster is None and not pipeline.evidence:
        return None
    try:
        version = read_streams(context, pipeline, cluster, others)
        if not version.topology.nodes:
            reason = f"no evidence yet: {'; '.join(version.warnings)}"
            return Refreshed(pipeline.name, problem=reason)
        number, is_new = _keep(store, pipeline.name, version)
    except HeadgateError as error:
        return Refreshed(pipeline.name, problem=str(error))
    return Refreshed(pipeline.name, number=number) if is_new else None


def _refresh(context: Context, store: Store, pipeline: Pipeline) -> Refreshed | None:
    try:
        version = read_registered(context, pipeline)
        if version is None or _is_known(store, pipeline.name, version):
            return None
        version = replace(version, topic_ids=dict(topic_ids(context, version)))
        number, is_new = _keep(store, pipeline.name, version)
    except HeadgateError as error:
        return Refreshed(pipeline.name, problem=str(error))
    return Refreshed(pipeline.name, number=number) if is_new else None


def _is_known(store: Store, name: str, version: Version) -> bool:
    """Say whether this is what was observed last: then Kafka need not be asked."""
    rows = [r for r in store.versions.list(name) if r.origin is Origin.OBSERVED]
    return bool(rows) and rows[-1].fingerprint == fingerprint(version)


def _keep(store: Store, name: str, version: Version) -> tuple[int, bool]:
    return store.versions.add(name, version, fingerprint(version), origin=Origin.OBSERVED)
