"""A generated version with as many nodes as one likes, for looking at large graphs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Sink, Source, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from support.console_seed import node

MEMBERS = ("parse", "filter", "enrich", "count", "counts", "total", "totals")
"""What a sub-topology consists of; a repartition leads into each but the first."""


def subtopology(number: int) -> tuple[list[Node], list[Edge]]:
    """Return the nodes of one sub-topology and the edges into and inside it."""
    kinds = {"count": (NodeKind.TRANSFORM, "aggregate"), "total": (NodeKind.TRANSFORM, "aggregate"),
             "counts": (NodeKind.STATE_STORE, "state_store"),
             "totals": (NodeKind.STATE_STORE, "state_store")}  # fmt: skip
    usual = (NodeKind.TRANSFORM, "project")
    nodes = [node(f"{m}-{number}", *kinds.get(m, usual), f"{m} {number}", number) for m in MEMBERS]
    flow = ("parse", "filter", "enrich", "count", "total")
    pairs = [*pairwise(flow), ("count", "counts"), ("total", "totals")]
    edges = [Edge(f"{a}-{number}", f"{b}-{number}") for a, b in pairs]
    if number:
        joint = node(f"by-{number}", NodeKind.REPARTITION, "exchange", f"by key {number}", number)
        # A tree: each sub-topology feeds up to three others.
        edges += [Edge(f"total-{(number - 1) // 3}", joint.id), Edge(joint.id, f"parse-{number}")]
        return [joint, *nodes], edges
    return nodes, edges


def version(nodes: int, name: str) -> Version:
    """Return a version of about that many nodes, in sub-topologies of seven."""
    members, edges = [], []
    for number in range(max(1, round(nodes / (len(MEMBERS) + 1)))):
        more, links = subtopology(number)
        members += more
        edges += links
    source = node("source", NodeKind.SOURCE, "kafka", "events", 0, format="kafka",
                  topics=["events"])  # fmt: skip
    sink = node("sink", NodeKind.SINK, "kafka", "results", 0, format="kafka", target="results")
    return Version(
        engine=Engine.KAFKA_STREAMS,
        name=name,
        topology=Topology(
            (source, *members, sink),
            (Edge("source", "parse-0"), *edges, Edge("total-0", "sink")),
        ),
        sources=(Source(position=0, format="kafka", topics=("events",), node="source"),),
        stateful=(),
        sink=Sink(format="kafka", target="results", node="sink"),
        captured_at="2026-11-21T10:46:03+00:00",
    )


def changed(before: Version) -> Version:
    """Return the version with another key and one more filter in its last sub-topology."""
    last = before.topology.nodes[-2].subtopology
    nodes = tuple(
        replace(n, label=f"{n.label} anew", details={"keys": ["other"]})
        if n.id == f"total-{last}" else n
        for n in before.topology.nodes
    )  # fmt: skip
    added = node("late", NodeKind.TRANSFORM, "filter", "drop late", last)
    return replace(
        before,
        topology=Topology(
            (*nodes, added), (*before.topology.edges, Edge(f"enrich-{last}", "late"))
        ),
    )


def write(folder: Path, sizes: dict[str, int]) -> Path:
    """Write a registry and a store with two versions a pipeline; return the registry."""
    file = folder / "headgate.toml"
    tables = [
        f'[[pipeline]]\nname = "{name}"\nengine = "kafka-streams"\ngroup = "{name}"\n'
        for name in sizes
    ]
    file.write_text("\n".join(tables))
    home = folder / ".headgate"
    home.mkdir(exist_ok=True)
    store = open_store(f"sqlite:///{home / 'headgate.db'}")
    for name, size in sizes.items():
        first = version(size, name)
        for made in (first, changed(first)):
            store.versions.add(name, made, fingerprint(made))
    store.close()
    return file
