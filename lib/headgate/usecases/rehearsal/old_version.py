"""The old version in a rehearsal of Kafka Streams, from evidence, state directory and cluster."""

from __future__ import annotations

from dataclasses import replace

from headgate.gateway.kafka_streams.state_directory import StateDirectory
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.model.version import Engine, Version
from headgate.parse.kafka_streams.from_cluster import observed
from headgate.usecases.rehearsal.read_user_cluster import UserCluster


def old_version(
    version: Version | None, directory: StateDirectory, seen: UserCluster | None
) -> Version:
    """Return the old version, completed by the cluster; without evidence, it has few facts.

    Without a topology description, the outcome by the rules is `unknown`.
    """
    version = version or _nothing(directory)
    if seen is None or (version.streams is not None and version.streams.internal is not None):
        return version
    owned = _owned(version, directory, seen)
    return observed(version, directory.application_id, seen.as_cluster(), owned)


def new_version(version: Version | None, old: Version, seen: UserCluster | None) -> Version:
    """Return the new version with the number of partitions of its inputs, if known."""
    version = version or Version(engine=Engine.KAFKA_STREAMS)
    app = version.streams
    if app is None:
        return version
    known = dict(old.streams.inputs) if old.streams else {}
    if seen is not None:
        known |= {n: len(t.partitions) for n, t in seen.topics.items() if not looks_internal(n)}
    named = {t for s in app.sources for t in s.topics}
    inputs = {n: count for n, count in known.items() if n in named}
    return replace(version, streams=replace(app, inputs={**inputs, **app.inputs}))


def _nothing(directory: StateDirectory) -> Version:
    app = StreamsApplication(application_id=directory.application_id)
    return Version(engine=Engine.KAFKA_STREAMS, name=directory.application_id, streams=app)


def _owned(version: Version, directory: StateDirectory, seen: UserCluster) -> dict[str, str]:
    """Return the internal topics that are verified to be the application's, with the evidence."""
    described = version.streams.expected_topics() if version.streams else {}
    committed = {topic for topic, _ in seen.committed}
    prefix, found = f"{directory.application_id}-", {}
    stores = {f"{prefix}{s}-changelog" for s in directory.stores}
    for name in seen.topics:
        if name in described:
            found[name] = "the topology description"
        elif name in stores:
            found[name] = "the state directory"
        elif name in committed and looks_internal(name):
            found[name] = "the group's committed offsets"
    return found
