"""Small versions for the tests of rules: one source and one aggregate by default."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import (
    Engine,
    OperatorKind,
    Progress,
    Sink,
    Source,
    StatefulOperator,
    StateStore,
    Version,
    Watermark,
    Window,
)

K = Field("k", "string", True)
COUNT = Field("count", "long", False)
SUM = Field("sum", "long", True)
WINDOW = Window(column="s0.ts", size_us=10_000_000, slide_us=10_000_000, start_us=0)
TIME = Watermark(column="s0.ts", delay="10 seconds", node="watermark")
OTHER_TIME = Watermark(column="s0.other", delay="10 seconds")
S = "spark.sql.streaming."


def store(key=(K,), value=(COUNT,), name="default", **more: Any) -> StateStore:
    return StateStore(store=name, key_schema=Schema(key), value_schema=Schema(value), **more)


def aggregate(
    keys=("s0.k",), functions=("count(1)",), key=(K,), value=(COUNT,), **more: Any
) -> StatefulOperator:
    return StatefulOperator(
        kind=more.pop("kind", OperatorKind.AGGREGATE),
        operator_id=more.pop("operator_id", 0),
        node="aggregate",
        keys=keys,
        functions=functions,
        stores=more.pop("stores", (store(key, value),)),
        **more,
    )


def deduplicate(keys=("s0.k",), key=(K,), **more: Any) -> StatefulOperator:
    value = (Field("__dummy__", "void", True),)
    more.setdefault("operator_id", 0)
    return StatefulOperator(
        kind=OperatorKind.DEDUPLICATE,
        node="dedup",
        keys=keys,
        stores=(store(key, value),),
        **more,
    )


def join(keys=("s0.k",), right_keys=("s1.k",), value=(K,), **more: Any) -> StatefulOperator:
    return StatefulOperator(
        kind=OperatorKind.STREAM_JOIN,
        operator_id=0,
        node="join",
        keys=keys,
        right_keys=right_keys,
        join_type=more.pop("join_type", "Inner"),
        stores=(store((K,), value, "left-keyWithIndexToValue"),),
        **more,
    )


def files(position=0, path="/in", **more: Any) -> Source:
    return Source(
        position=position,
        format=more.pop("format", "json"),
        path=path,
        columns=("k", "v"),
        node=f"source{position}",
        advanced=more.pop("advanced", True),
        **more,
    )


def kafka(position=0, topics=("orders",), options=None, **more: Any) -> Source:
    return Source(
        position=position,
        format="kafka",
        topics=topics,
        options={"subscribe": ",".join(topics), **(options or {})},
        node=f"source{position}",
        **more,
    )


def graph(*transforms: tuple[str, str], stateful: str | None = "aggregate") -> Topology:
    """Return source -> transforms -> stateful operator -> sink."""
    nodes = [Node("source0", NodeKind.SOURCE, "json", "json /in")]
    nodes += [
        Node(f"{word}{i}", NodeKind.TRANSFORM, word, label)
        for i, (word, label) in enumerate(transforms)
    ]
    if stateful:
        nodes.append(Node(stateful, NodeKind.TRANSFORM, stateful, stateful))
    nodes.append(Node("sink", NodeKind.SINK, "foreachBatch", "foreachBatch"))
    edges = [Edge(a.id, b.id) for a, b in pairwise(nodes)]
    return Topology(tuple(nodes), tuple(edges))


def union_of(*branches: tuple[str, str]) -> Topology:
    """Return source -> filter -> aggregate for each (condition, node id), joined by a union."""
    nodes, edges = [], []
    for place, (condition, aggregate_id) in enumerate(branches):
        source, location = f"source{place}", f"filter{place}"
        nodes += [
            Node(source, NodeKind.SOURCE, "json", "json /in"),
            Node(location, NodeKind.TRANSFORM, "filter", condition),
            Node(aggregate_id, NodeKind.TRANSFORM, "aggregate", "count(1) by k"),
        ]
        edges += [Edge(source, location), Edge(location, aggregate_id), Edge(aggregate_id, "union")]
    nodes += [
        Node("union", NodeKind.TRANSFORM, "union", "union"),
        Node("sink", NodeKind.SINK, "foreachBatch", "foreachBatch"),
    ]
    return Topology(tuple(nodes), (*edges, Edge("union", "sink")))


def version(*operators: StatefulOperator, **more: Any) -> Version:
    made = Version(
        engine=Engine.SPARK,
        topology=graph(stateful="aggregate" if operators else None),
        sources=(files(),),
        stateful=operators,
        sink=Sink(format="foreachBatch", node="sink"),
        output_mode="update",
        offset_log_version=1,
        progress=Progress(last_offset_batch=3, last_commit_batch=3, watermark_ms=5000),
    )
    return replace(made, **more)


def pinned(**values: str) -> dict[str, str]:
    return {S + k.replace("__", "."): v for k, v in values.items()}


def sources(*found: Source, **more: Any) -> Version:
    return version(aggregate(), sources=found, **more)


PLAIN = version(aggregate())
WINDOWED = aggregate(keys=("window(s0.ts)", "s0.k"), window=WINDOW, key=(K,))
