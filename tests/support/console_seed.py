"""A store with believable versions, for tests of pages and pictures; nothing here is run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from headgate.model.state_schema import Field, Schema
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import (
    Engine,
    Evidence,
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
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store

HOUR = 3_600_000_000
TOML = """\
{kafka}
[[pipeline]]
name = "orders-by-city"
engine = "spark"
owner = "sales"
description = "Orders with customer and payment, summed up by city and hour."
checkpoint = "ck/orders-by-city"

[[pipeline]]
name = "city-alerts"
engine = "spark"
owner = "growth"
checkpoint = "ck/city-alerts"

[[pipeline]]
name = "billing"
engine = "consumer-group"
owner = "finance"
group = "billing"
topics = ["city-revenue"]
"""


def node(name: str, kind: NodeKind, operator: str, label: str, sub: int = 0, **details: object):
    return Node(name, kind, operator, label, sub, dict(details))


def orders_v1() -> Version:
    """Three topics, a stream-static and a stream-stream join, a windowed aggregate."""
    source, change = NodeKind.SOURCE, NodeKind.TRANSFORM
    nodes = (
        node("source-orders", source, "kafka", "orders", 0, format="kafka", topics=["orders"]),
        node("source-payments", source, "kafka", "payments", 1, format="kafka",
             topics=["payments"]),
        node("source-customers", source, "static", "customers", 0, format="parquet",
             path="/data/customers"),
        node("project-orders", change, "project", "parse order", 0,
             columns=["order_id", "customer_id", "amount", "ordered_at"]),
        node("watermark-orders", change, "watermark", "watermark ordered_at", 0,
             watermark_column="ordered_at", watermark_delay="10 minutes"),
        node("static_join-customers", change, "static_join", "join customers", 0,
             keys=["customer_id"], join_type="left_outer"),
        node("project-payments", change, "project", "parse payment", 1,
             columns=["order_id", "paid_at", "method"]),
        node("watermark-payments", change, "watermark", "watermark paid_at", 1,
             watermark_column="paid_at", watermark_delay="10 minutes"),
        node("exchange-orders", NodeKind.REPARTITION, "exchange", "by order_id", 0,
             keys=["order_id"], partitions=8),
        node("exchange-payments", NodeKind.REPARTITION, "exchange", "by order_id", 1,
             keys=["order_id"], partitions=8),
        node("stream_join-paid", change, "stream_join", "join payments", 2,
             keys=["order_id"], join_type="inner"),
        node("store-left", NodeKind.STATE_STORE, "state_store", "left-keyToNumValues", 2,
             store="left-keyToNumValues", operator_id=1),
        node("project-city", change, "project", "city and hour", 2),
        node("exchange-city", NodeKind.REPARTITION, "exchange", "by window, city", 2,
             keys=["window", "city"], partitions=8),
        node("aggregate-city", change, "aggregate", "sum by city and hour", 3,
             keys=["window", "city"]),
        node("store-city", NodeKind.STATE_STORE, "state_store", "default", 3, store="default",
             operator_id=0),
        node("sink", NodeKind.SINK, "kafka", "city-revenue", 3, format="kafka",
             target="city-revenue", output_mode="update"),
    )  # fmt: skip
    pairs = (
        "source-orders>project-orders project-orders>watermark-orders"
        " watermark-orders>static_join-customers source-customers>static_join-customers"
        " static_join-customers>exchange-orders exchange-orders>stream_join-paid"
        " source-payments>project-payments project-payments>watermark-payments"
        " watermark-payments>exchange-payments exchange-payments>stream_join-paid"
        " stream_join-paid>store-left stream_join-paid>project-city project-city>exchange-city"
        " exchange-city>aggregate-city aggregate-city>store-city aggregate-city>sink"
    )
    edges = tuple(Edge(*pair.split(">")) for pair in pairs.split())
    return Version(
        engine=Engine.SPARK,
        engine_version="4.2.0",
        name="orders-by-city",
        topology=Topology(nodes, edges),
        sources=(
            Source(position=0, format="kafka", topics=("orders",), node="source-orders",
                   offsets={"orders": {"0": 1204, "1": 1187}}),
            Source(position=1, format="kafka", topics=("payments",), node="source-payments",
                   offsets={"payments": {"0": 2380}}),
        ),
        stateful=(_aggregate(("sum(s0.amount)",), "long"), _stream_join()),
        sink=Sink(format="kafka", target="city-revenue", output_mode="update", node="sink"),
        watermarks=(Watermark(column="s0.ordered_at", delay="10 minutes"),),
        output_mode="update",
        pinned={"spark.sql.shuffle.partitions": "8",
                "spark.sql.streaming.stateStore.providerClass": "HDFSBackedStateStoreProvider"},
        query_id="6d0f3b5e-9f0a-4f4e-8a59-6b8e1f0c2f11",
        progress=Progress(last_offset_batch=412, last_commit_batch=412, first_retained_batch=313),
        evidence=(Evidence(kind="checkpoint", path="/data/ck/orders-by-city"),),
        captured_at="2026-11-20T09:12:44+00:00",
    )  # fmt: skip


def _aggregate(functions: tuple[str, ...], kind: str) -> StatefulOperator:
    key = Schema((Field("window", "timestamp", False), Field("city", "string", True)))
    return StatefulOperator(
        kind=OperatorKind.AGGREGATE, name="stateStoreSave", operator_id=0, node="aggregate-city",
        keys=("window(s0.ordered_at, 1 hour)", "s0.city"), functions=functions,
        window=Window(column="s0.ordered_at", size_us=HOUR, slide_us=HOUR),
        watermark_column="s0.ordered_at", watermark_delay="10 minutes", output_mode="update",
        stores=(StateStore(store="default", operator_id=0, node="store-city", partitions=8,
                           key_schema=key, value_schema=Schema((Field("sum", kind, True),)),
                           provider="HDFSBackedStateStoreProvider", format="2", proven=True),),
    )  # fmt: skip


def _stream_join() -> StatefulOperator:
    return StatefulOperator(
        kind=OperatorKind.STREAM_JOIN, name="symmetricHashJoin", operator_id=1,
        node="stream_join-paid", keys=("s0.order_id",), right_keys=("s1.order_id",),
        join_type="inner",
        stores=(StateStore(store="left-keyToNumValues", operator_id=1, node="store-left",
                           key_schema=Schema((Field("order_id", "string", True),)),
                           value_schema=Schema((Field("value", "long", True),)), partitions=8,
                           provider="HDFSBackedStateStoreProvider", format="2", proven=True),),
    )  # fmt: skip


def orders_v2() -> Version:
    """Grouped by another column of the same type, a filter more, another sink topic."""
    v1 = orders_v1()
    new = node("filter-valid", NodeKind.TRANSFORM, "filter", "paid orders only", 2,
               condition="status = 'paid'")  # fmt: skip
    nodes = [n for n in v1.topology.nodes if n.id not in ("source-customers",)]
    nodes.insert(11, new)
    nodes = [replace(n, label="sum by region and hour", details={"keys": ["window", "region"]})
             if n.id == "aggregate-city" else n for n in nodes]  # fmt: skip
    nodes = [replace(n, details={**n.details, "target": "city-revenue-v2"}, label="city-revenue-v2")
             if n.id == "sink" else n for n in nodes]  # fmt: skip
    edges = [e for e in v1.topology.edges if "source-customers" not in (e.source, e.target)]
    edges = [e for e in edges if (e.source, e.target) != ("stream_join-paid", "project-city")]
    edges += [Edge("stream_join-paid", "filter-valid"), Edge("filter-valid", "project-city")]
    operator = replace(
        _aggregate(("sum(s0.amount)",), "long"), keys=("window(s0.ordered_at, 1 hour)", "s0.region")
    )
    return replace(
        v1,
        topology=Topology(tuple(nodes), tuple(edges)),
        stateful=(operator, _stream_join()),
        sink=Sink(format="kafka", target="city-revenue-v2", output_mode="update", node="sink"),
        captured_at="2026-11-21T10:46:03+00:00",
    )


def alerts() -> Version:
    """A small pipeline that reads what the first one writes."""
    nodes = (
        node("source-1", NodeKind.SOURCE, "kafka", "city-revenue", 0, format="kafka",
             topics=["city-revenue"]),
        node("project-1", NodeKind.TRANSFORM, "project", "parse", 0),
        node("exchange-1", NodeKind.REPARTITION, "exchange", "by city", 0, keys=["city"]),
        node("deduplicate-1", NodeKind.TRANSFORM, "deduplicate", "one alert a city and day", 1),
        node("store-1", NodeKind.STATE_STORE, "state_store", "default", 1),
        node("sink", NodeKind.SINK, "kafka", "city-alerts", 1, format="kafka",
             target="city-alerts"),
    )  # fmt: skip
    pairs = [("source-1", "project-1"), ("project-1", "exchange-1"),
             ("exchange-1", "deduplicate-1"), ("deduplicate-1", "store-1"),
             ("deduplicate-1", "sink")]  # fmt: skip
    return Version(
        engine=Engine.SPARK,
        name="city-alerts",
        topology=Topology(nodes, tuple(Edge(*p) for p in pairs)),
        sources=(Source(position=0, format="kafka", topics=("city-revenue",), node="source-1"),),
        stateful=(),
        sink=Sink(format="kafka", target="city-alerts", node="sink"),
        captured_at="2026-11-21T10:46:03+00:00",
    )


def seed(folder: Path, *, bootstrap: str | None = None) -> Path:
    """Write a registry and a store with three versions below `folder`; return the registry."""
    kafka = f'[kafka]\nbootstrap_servers = "{bootstrap}"\n' if bootstrap else ""
    file = folder / "headgate.toml"
    file.write_text(TOML.format(kafka=kafka))
    home = folder / ".headgate"
    home.mkdir(exist_ok=True)
    store = open_store(f"sqlite:///{home / 'headgate.db'}")
    for pipeline, version in (
        ("orders-by-city", orders_v1()),
        ("orders-by-city", orders_v2()),
        ("city-alerts", alerts()),
    ):
        store.versions.add(pipeline, version, fingerprint(version))
    store.close()
    return file


def add_stopped_pipeline(file: Path, name: str = "returns") -> Path:
    """Register a Spark pipeline that is stopped, with a small checkpoint; return the checkpoint.

    Its start command stands for the query: it leaves a mark and writes a first batch.
    """
    checkpoint = file.parent / "ck" / name
    write_checkpoint(checkpoint, batches=3)
    write_checkpoint(file.parent / "fresh", batches=1)
    table = (
        f'\n[[pipeline]]\nname = "{name}"\nengine = "spark"\ncheckpoint = "ck/{name}"\n'
        '[pipeline.commands]\nstop = "rm -f running"\n'
        f'start = "touch running && cp -R fresh/. ck/{name}"\n'
        'status = "test -e running || exit 3"\n'
    )
    file.write_text(file.read_text() + table)
    return checkpoint


def write_checkpoint(folder: Path, *, batches: int) -> None:
    """Write what a query without state leaves behind after some batches."""
    for name in ("offsets", "commits", "sources/0"):
        (folder / name).mkdir(parents=True)
    (folder / "metadata").write_text('{"id":"0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10"}')
    conf = {"spark.sql.shuffle.partitions": "1"}
    head = {"batchWatermarkMs": 0, "batchTimestampMs": 1795250729015, "conf": conf}
    for batch in range(batches):
        lines = ["v1", json.dumps(head), json.dumps({"logOffset": batch})]
        (folder / "offsets" / str(batch)).write_text("\n".join(lines))
        (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
