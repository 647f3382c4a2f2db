"""Which registered pipelines read a field of a topic, and which are downstream of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import HeadgateError
from headgate.landscape.build import build
from headgate.landscape.landscape import Landscape
from headgate.landscape.pipeline_topics import matcher, reads
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.rules.topic_schemas.facts.field_reads import Certainty, FieldRead, TopicUse, topic_use
from headgate.rules.topic_schemas.facts.report import Behind
from headgate.store import open_store
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_kafka_streams import read_streams
from headgate.usecases.evidence.read_registered import read_registered


@dataclass(frozen=True, slots=True)
class TopicConsumers:
    """What each pipeline that reads a topic does with its records."""

    topic: str
    uses: tuple[TopicUse, ...]
    landscape: Landscape

    def of(self, path: str) -> tuple[FieldRead, ...]:
        """Return what each pipeline does with a field, those that certainly read it first."""
        order = list(Certainty)
        found = (use.of(path) for use in self.uses)
        return tuple(sorted(found, key=lambda r: (order.index(r.certainty), r.pipeline)))

    def behind(self, path: str) -> tuple[Behind, ...]:
        """Return the pipelines further downstream: they read what the field's consumers write."""
        start = [r.pipeline for r in self.of(path) if r.certainty is not Certainty.NO]
        found: dict[str, Behind] = {}
        queue = list(start)
        while queue:
            name = queue.pop(0)
            pipeline = self.landscape.pipeline(name)
            for topic in pipeline.writes if pipeline else ():
                for other in self.landscape.pipelines:
                    if topic in other.reads and other.name not in (*start, *found):
                        found[other.name] = Behind(other.name, topic)
                        queue.append(other.name)
        return tuple(found.values())


def topic_consumers(context: Context, topic: str, column: str = "value") -> TopicConsumers:
    """Find the registered pipelines that read a topic; Kafka isn't read."""
    versions = current_versions(context)
    landscape = build(context.registry, versions, None)
    reading = [p.name for p in landscape.pipelines if topic in p.reads]
    reading += [n for n, v in versions.items() if n not in reading and _by_pattern(v, topic)]
    engines = {p.name: p.engine for p in landscape.pipelines}
    uses = tuple(topic_use(n, versions.get(n), topic, column, engines[n]) for n in reading)
    return TopicConsumers(topic, uses, landscape)


def _by_pattern(version: Version, topic: str) -> bool:
    return any(j.topic == topic for j in reads(version, matcher([topic])))


def current_versions(context: Context) -> Mapping[str, Version]:
    """Return each pipeline's running version in the store, else the version in its evidence."""
    names = [p.name for p in context.registry.pipelines]
    stored: dict[str, Version] = {}
    if names and _has_store(context.store_url):
        with suppress(HeadgateError), closing(open_store(context.store_url)) as store:
            stored = store.versions.all_running(names)
    for pipeline in context.registry.pipelines:
        if pipeline.name not in stored and (found := _read(context, pipeline, stored)) is not None:
            stored[pipeline.name] = found
    return stored


def _has_store(url: str) -> bool:
    """Whether there may be stored versions: looking for them makes no new file."""
    file = url.partition(":///")[2].partition("?")[0]
    return not url.startswith("sqlite") or Path(file).exists()


def _read(context: Context, pipeline: Pipeline, versions: Mapping[str, Version]) -> Version | None:
    with suppress(HeadgateError):
        if pipeline.engine is Engine.SPARK and (found := read_registered(context, pipeline)):
            return found
    with suppress(HeadgateError):
        if pipeline.engine is Engine.KAFKA_STREAMS:
            return read_streams(context, pipeline, None, versions)
    return None
