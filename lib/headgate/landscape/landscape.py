"""The landscape: topologies of all pipelines joined by the topics that they share, frozen.

    Landscape
    ├── nodes       what is drawn: topics, nodes of topologies, placeholders, undeclared groups
    ├── edges       data flows from source to target; topic -> source node, sink node -> topic
    ├── pipelines   one entry per declared pipeline, with its node ids, topics and lag
    ├── topics      one entry per topic node, with what Kafka says of it, writers and consumers
    ├── groups      one entry per Kafka group, declared or not
    └── warnings    what could not be read or joined, one sentence each

Node ids:
    "topic:<name>"           a topic
    "<pipeline>/<node id>"   a node of a pipeline's topology, under its own id
    "<pipeline>/pipeline"    the placeholder of a pipeline whose topology is not known
    "group:<group id>"       a Kafka group that no pipeline declares
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import networkx as nx

from headgate.model.cluster import GroupType
from headgate.model.topology import Edge
from headgate.model.version import Engine


class LandscapeKind(StrEnum):
    """The five kinds of a topology's nodes, and the three that only the landscape has."""

    SOURCE = "source"
    TRANSFORM = "transform"
    REPARTITION = "repartition"
    STATE_STORE = "state_store"
    SINK = "sink"
    TOPIC = "topic"
    PIPELINE = "pipeline"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class LandscapeNode:
    """One box. `pipeline` and `subtopology` are None for topics and undeclared groups.

    `operator` and `details` are the topology node's own; a topic's operator is `topic`, a
    placeholder's the engine's word, an undeclared group's the group type. A topic's facts are in
    `Landscape.topics`, a group's in `Landscape.groups`. `note` is one short note for people
    ("no version yet", "undeclared", "not in Kafka"), None if there is nothing to say.
    """

    id: str
    kind: LandscapeKind
    operator: str
    label: str
    pipeline: str | None = None
    subtopology: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
    note: str | None = None


class PositionState(StrEnum):
    """The state of a consumer's position on one partition, beside its lag.

    OK: it is within the log. NO_OFFSET: the partition exists, but the consumer has no offset in it
    yet. DATA_LOST: the next offset is below the earliest offset, so records were deleted before
    they were read. BEYOND_END: it is above the latest offset, so the topic was recreated or
    truncated. NOT_LISTED: Kafka lists no such partition. UNKNOWN: Kafka did not say.
    """

    OK = "ok"
    NO_OFFSET = "no_offset"
    DATA_LOST = "data_lost"
    BEYOND_END = "beyond_end"
    NOT_LISTED = "not_listed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """A consumer's lag on one partition, in offsets (an upper bound of records).

    `position` is the next offset that the consumer will read: a group's committed offset, or the
    end of the newest committed batch of a Spark checkpoint. `begin` and `end` are the earliest and
    latest offset. `lag` is `end - position`, never negative. It is None if either is unknown, or if
    the position is of another log than this one (BEYOND_END): unknown is not zero.
    """

    topic: str
    partition: int
    position: int | None = None
    end: int | None = None
    begin: int | None = None
    state: PositionState = PositionState.UNKNOWN

    @property
    def lag(self) -> int | None:
        """End minus position, or None."""
        if self.position is None or self.end is None or self.state is PositionState.BEYOND_END:
            return None
        return max(self.end - self.position, 0)

    @property
    def lost(self) -> int | None:
        """How many offsets are gone that were not read yet, None where that is unknown."""
        if self.position is None or self.begin is None:
            return None
        return max(self.begin - self.position, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandscapePipeline:
    """A declared pipeline. `nodes` are landscape node ids in the topology's order.

    `reads` and `writes` are topic names, sorted. `lag` sums the known partitions, None where no
    partition is known. `lag_from` says where positions come from: `group` (committed to Kafka),
    `checkpoint` or `progress`, whichever is newer (Spark never commits to Kafka), None where there
    are none; `lag_at` is when they were true (ISO 8601, UTC), None where that is not said: a
    group's are as new as the cluster's snapshot. `captured_at` is
    that of the version shown, None where there is no version yet. `status` is `running`,
    `stopped`, `failed` or `unknown`, None where nobody looked, and `status_why` the reason in one
    sentence. `note` as for a node.
    """

    name: str
    engine: Engine
    owner: str | None = None
    description: str | None = None
    group: str | None = None
    nodes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    stores: int = 0
    positions: tuple[PartitionLag, ...] = ()
    lag: int | None = None
    lag_from: str | None = None
    lag_at: str | None = None
    captured_at: str | None = None
    status: str | None = None
    status_why: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LandscapeTopic:
    """A topic that exists, or that a topology names. `id` is the node's id.

    `exists` is None if Kafka was not read; False means that Kafka did not list it (it doesn't
    exist, or may not be seen). Counts are None if unknown; `records` is an upper bound.
    `writers` are pipelines; `readers` are pipelines and, as `group:<id>`, undeclared groups, so
    that each of them is a name in `Landscape`. `lags` has each consumer's lag on this topic.
    `owner` is the Kafka Streams pipeline that is verified to own this internal topic (repartition,
    changelog). `proof` is the evidence in words, or why there is none; None for a topic that does
    not look internal. `candidates` are the application ids that it may belong to if the owner
    isn't verified. `bytes` is its size on disk, None if unknown.
    """

    id: str
    name: str
    exists: bool | None = None
    partitions: int | None = None
    records: int | None = None
    retention_ms: int | None = None
    retention_bytes: int | None = None
    cleanup_policy: str | None = None
    internal: bool = False
    owner: str | None = None
    proof: str | None = None
    candidates: tuple[str, ...] = ()
    bytes: int | None = None
    writers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    lags: tuple[tuple[str, int | None], ...] = ()

    @property
    def is_unused(self) -> bool:
        """No declared pipeline writes it, no pipeline or group reads it, nobody owns it."""
        return not (self.writers or self.readers or self.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandscapeGroup:
    """A Kafka group. `pipeline` is the declaring pipeline's name, None where undeclared.

    `node` is the id of an undeclared group's node (None if it reads nothing that is known), or of
    the declaring pipeline's placeholder (None if its topology is known). `members` is None if the
    client doesn't report them: never to be shown as "none". `lag` sums the known partitions, None
    if no partition is known.
    """

    id: str
    type: GroupType
    state: str
    members: int | None = None
    pipeline: str | None = None
    node: str | None = None
    positions: tuple[PartitionLag, ...] = ()
    lag: int | None = None

    @property
    def is_declared(self) -> bool:
        """Whether a pipeline of the registry names this group."""
        return self.pipeline is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """All pipelines, topics and groups as one graph; equal content compares equal.

    Pipelines keep the registry's order, topics and groups are sorted by name. Every edge's ends
    are ids in `nodes`. `at` is when Kafka was read (ISO 8601, UTC), None where it was not.
    """

    nodes: tuple[LandscapeNode, ...] = ()
    edges: tuple[Edge, ...] = ()
    pipelines: tuple[LandscapePipeline, ...] = ()
    topics: tuple[LandscapeTopic, ...] = ()
    groups: tuple[LandscapeGroup, ...] = ()
    warnings: tuple[str, ...] = ()
    at: str | None = None

    def node(self, node_id: str) -> LandscapeNode | None:
        """Return the node of that id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)

    def topic(self, name: str) -> LandscapeTopic | None:
        """Return the topic of that name (no "topic:" before it), or None."""
        return next((t for t in self.topics if t.name == name), None)

    def pipeline(self, name: str) -> LandscapePipeline | None:
        """Return the pipeline of that name, or None."""
        return next((p for p in self.pipelines if p.name == name), None)

    def group(self, group_id: str) -> LandscapeGroup | None:
        """Return the group of that id (no "group:" before it), or None."""
        return next((g for g in self.groups if g.id == group_id), None)

    def graph(self) -> nx.DiGraph[str]:
        """Return node ids and edges as a directed graph; a node's data is under `node`."""
        g: nx.DiGraph[str] = nx.DiGraph()
        g.add_nodes_from((n.id, {"node": n}) for n in self.nodes)
        g.add_edges_from((e.source, e.target) for e in self.edges)
        return g
