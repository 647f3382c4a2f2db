"""Read a registered Kafka Streams application from its evidence and from the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.errors import EvidenceError
from headgate.landscape.internal_topic_owner import owned_by, ownership
from headgate.model.cluster import Cluster
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.kafka_streams.from_cluster import observed
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_version import read_version

NOT_COMPLETED = (
    "Headgate did not read the Kafka cluster state, so internal topics, partitions and settings "
    "are unknown"
)


def read_streams(
    context: Context,
    pipeline: Pipeline,
    cluster: Cluster | None,
    others: Mapping[str, Version] | None = None,
) -> Version:
    """Return the application's current version from its evidence and the cluster.

    Without a cluster, only the evidence counts, and the version has a warning. `others` are the
    versions of other pipelines, by name: if one of them also implies a topic, the topic belongs to
    no application. Raises EvidenceError if there is neither evidence nor a cluster, or if the
    evidence is of another engine or application.
    """
    evidence = list(pipeline.evidence)
    version = read_version(evidence, context=context) if evidence else None
    if version is not None and version.engine is not Engine.KAFKA_STREAMS:
        raise EvidenceError(
            f"the evidence of {pipeline.name} is from {version.engine.value}, but headgate.toml "
            f"says {pipeline.engine.value}. Correct `evidence` or `engine`"
        )
    if cluster is not None:
        known = {n: v for n, v in (others or {}).items() if n != pipeline.name}
        known |= {pipeline.name: version} if version is not None else {}
        return _completed(context, pipeline, version, cluster, known)
    if version is None:
        raise EvidenceError(
            f"{pipeline.name} has no `evidence`, and no Kafka cluster was read: set `evidence`, or "
            "bootstrap_servers under [kafka]"
        )
    if version.streams is not None and version.streams.internal is not None:
        return version
    return replace(version, warnings=(*version.warnings, NOT_COMPLETED))


def _completed(
    context: Context,
    pipeline: Pipeline,
    version: Version | None,
    cluster: Cluster,
    known: Mapping[str, Version],
) -> Version:
    """Complete by what is verified: another application's topics are never taken for its own."""
    application = str(pipeline.group)
    proven = owned_by(ownership(context.registry, known, cluster), application)
    return observed(version, application, cluster, {o.topic: o.proof for o in proven})
