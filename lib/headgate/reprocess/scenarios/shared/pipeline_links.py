"""Which pipelines are downstream of one, by the topics that they write and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from headgate.errors import HeadgateError
from headgate.landscape.pipeline_topics import Match, matcher, reads, writes, writes_anywhere
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A pipeline with the topics of others that it reads and those that it writes."""

    pipeline: Pipeline
    version: Version | None
    reads: frozenset[str]
    writes: frozenset[str]

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return self.pipeline.name

    @property
    def is_stateless(self) -> bool:
        """Whether it keeps no state, as far as is known: what nothing describes may keep some."""
        if self.pipeline.engine is Engine.CONSUMER_GROUP:
            return True
        if self.version is None:
            return False
        if self.pipeline.engine is Engine.SPARK:
            return self.version.stateful == ()
        streams = self.version.streams
        return streams is not None and streams.described and not streams.stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """All registered pipelines by name, and which have unknown links.

    `anywhere` choose a topic for each record, `unknown` have no known inputs.
    """

    members: Mapping[str, Member]
    anywhere: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def next_of(self, name: str) -> tuple[Member, ...]:
        """Return the pipelines that read what this one writes, itself not among them."""
        written = self.members[name].writes
        return tuple(m for m in self.members.values() if m.name != name and m.reads & written)

    def writers_of(self, topic: str) -> tuple[str, ...]:
        """Return the pipelines that write a topic."""
        return tuple(m.name for m in self.members.values() if topic in m.writes)


def read_links(request: PlanRequest) -> Links:
    """Return the links of all registered pipelines, as versions, groups and checkpoints say."""
    inspector = request.inspector
    pipelines = inspector.processes.pipelines()
    versions = {p.name: _version(request, p) for p in pipelines}
    match = _matcher(inspector, versions.values())
    members = {p.name: _member(p, versions[p.name], inspector, match) for p in pipelines}
    found = members.values()
    return Links(
        members=members,
        anywhere=tuple(m.name for m in found if m.version and writes_anywhere(m.version)),
        unknown=tuple(m.name for m in found if not m.reads),
    )


def topics_read(request: PlanRequest) -> frozenset[str]:
    """Return the topics that the plan's pipeline reads, as far as anything shows; else empty."""
    pipeline, inspector = request.pipeline, request.inspector
    version = _version(request, pipeline)
    return _member(pipeline, version, inspector, _matcher(inspector, [version])).reads


def _matcher(inspector: Inspector, versions: Iterable[Version | None]) -> Match:
    """Return the look-up of patterns; Kafka is asked only if there is one."""
    patterns = any(s.pattern for v in versions if v is not None for s in v.sources or ())
    is_there = patterns and inspector.kafka.has_cluster()
    return matcher(inspector.kafka.topic_names() if is_there else ())


def _version(request: PlanRequest, pipeline: Pipeline) -> Version | None:
    found = request.versions(pipeline.name)
    is_asked = pipeline.name == request.pipeline.name
    return found or (request.version if is_asked else None)


def _member(
    pipeline: Pipeline, version: Version | None, inspector: Inspector, match: Match
) -> Member:
    read = {j.topic for j in reads(version, match)} if version else set()
    written = {j.topic for j in writes(version)} if version else set()
    read |= set(_read_by(pipeline, inspector)) | set(pipeline.topics)
    internal = {t for t in read if is_internal(t, pipeline)}
    return Member(
        pipeline=pipeline,
        version=version,
        reads=frozenset(read - internal),
        writes=frozenset(written - internal),
    )


def _read_by(pipeline: Pipeline, inspector: Inspector) -> Iterator[str]:
    """Yield the topics that the pipeline has offsets of; what can't be read has none."""
    try:
        if pipeline.group is not None and inspector.kafka.has_cluster():
            yield from (o.topic for o in inspector.kafka.group(pipeline.group).offsets)
        elif pipeline.checkpoint is not None:
            found = inspector.checkpoints.read(pipeline.checkpoint)
            yield from found.offsets if found else ()
    except HeadgateError:
        # It stays unknown: who is downstream of a chain must not depend on all others.
        return


def is_internal(topic: str, pipeline: Pipeline) -> bool:
    """Whether Kafka Streams itself made the topic: no other pipeline reads or writes it."""
    own = pipeline.engine is Engine.KAFKA_STREAMS and topic.startswith(f"{pipeline.group}-")
    return own and topic.endswith(("-repartition", "-changelog"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The chain in the order of its data: the first pipeline first.

    `left_out` are the pipelines that can be reached only through excluded ones, each with the one
    that it is reached through. `cycle` are pipelines that read what they write by a detour.
    """

    members: tuple[Member, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    cycle: tuple[str, ...] = ()


def order(links: Links, first: str, excluded: Iterable[str]) -> Order:
    """Return the pipelines downstream of `first`, also excluded ones, each after all before it."""
    out = set(excluded)
    reached = _reach(links, first, out)
    everyone = _reach(links, first, set())
    left_out = {n: by for n, by in everyone.items() if n not in reached}
    waiting = {n: {w for w in reached if links.members[n] in links.next_of(w)} for n in reached}
    # What leads back to the first one is a cycle, too.
    done: list[str] = []
    while ready := [n for n in reached if n not in done and waiting[n] <= set(done)]:
        done += ready
    rest = tuple(n for n in reached if n not in done)
    # What is only downstream of a cycle waits as well, but isn't part of it.
    cycle = set(rest)
    while ends := {n for n in cycle if not any(m.name in cycle for m in links.next_of(n))}:
        cycle -= ends
    return Order(
        members=tuple(links.members[n] for n in (*done, *rest)),
        left_out=left_out,
        cycle=tuple(n for n in rest if n in cycle),
    )


def _reach(links: Links, first: str, out: set[str]) -> dict[str, str]:
    """Return what can be reached, each with what reaches it; nothing through an excluded one."""
    found = {first: first}
    queue = [first]
    while queue:
        name = queue.pop(0)
        if name in out:
            continue
        for member in links.next_of(name):
            if member.name not in found:
                found[member.name] = name
                queue.append(member.name)
    return found


def unregistered(
    inspector: Inspector, links: Links, topics: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return by topic the consumer groups that no registered pipeline has."""
    names = sorted(topics)
    if not names or not inspector.kafka.has_cluster():
        return {}
    own = {m.pipeline.group for m in links.members.values()}
    readers = inspector.kafka.topic_consumers(names)
    found = {n: tuple(sorted(g for g in readers.get(n, {}) if g not in own)) for n in names}
    return {n: groups for n, groups in found.items() if groups}
