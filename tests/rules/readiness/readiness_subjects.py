"""Versions and clusters for the tests of readiness, each with one fault at most."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from headgate.model.activity import Activity, ActivityState
from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.kafka_streams import (
    InternalKind,
    InternalTopic,
    Repartition,
    StreamsApplication,
    StreamsProcessor,
    StreamsSink,
    StreamsSource,
    StreamsStore,
)
from headgate.model.progress import BatchProgress, OperatorProgress
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

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
S = "spark.sql.streaming."
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CAPTURE = Evidence(kind="capture", path="c")
TS = Watermark(column="s0.ts", delay="10 minutes")
MINUTE = Window(column="s0.ts", size_us=60_000_000, slide_us=60_000_000)
DAY = 86_400_000


def kafka(*, position=0, topic="orders", name=None, **options):
    """A Kafka source that is read as it should be."""
    usual = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "1000"}
    told = {k.replace("kafka_", "kafka."): v for k, v in options.items()}
    kept = {k: v for k, v in {**usual, **told}.items() if v is not None}
    return Source(
        position=position, format="kafka", name=name, topics=(topic,), options=kept,
        node=f"source-{position}", offsets={topic: {"0": 900}},
    )  # fmt: skip


def files(**options):
    """A file source that is read as it should be."""
    usual = {"path": "s3a://in/orders", "maxFilesPerTrigger": "10"}
    kept = {k: v for k, v in {**usual, **options}.items() if v is not None}
    return Source(position=0, format="json", path=kept["path"], options=kept, node="source-0")


def aggregate(*keys, window=MINUTE, delay="10 minutes", **more):
    """A windowed aggregation whose windows a watermark closes."""
    return StatefulOperator(
        kind=OperatorKind.AGGREGATE, name="stateStoreSave", operator_id=0, node="aggregate",
        keys=keys or ("window(s0.ts, 60000000, 60000000, 0)", "s0.k"), functions=("count(1)",),
        window=window, watermark_column="s0.ts" if delay else None, watermark_delay=delay,
        stores=(StateStore(store="default", operator_id=0, partitions=8),), **more,
    )  # fmt: skip


def operator(kind, **more):
    """A stateful operator of that kind, by key `k`."""
    given = {"keys": ("s0.k",), "operator_id": 0, "node": "operator", "name": str(kind)}
    return StatefulOperator(kind=kind, **{**given, **more})


BY_KEY = aggregate("s0.k", window=None, delay=None)


def spark(**more):
    """A query at which no rule has anything to mend."""
    given = {
        "engine": Engine.SPARK,
        "name": "orders",
        "engine_version": "4.2.0",
        "sources": (kafka(),),
        "stateful": (),
        "sink": Sink(format="delta", target="s3a://out/orders", node="sink"),
        "output_mode": "Update",
        "trigger": {"processingTime": "1 minute"},
        "settings": {"spark.sql.session.timeZone": "UTC"},
        "evidence": (CAPTURE, Evidence(kind="settings", path="s")),
        "checkpoint": "s3a://checkpoints/orders",
        "progress": Progress(offsets_at=(NOW - timedelta(hours=1)).isoformat()),
        "topology": graph("source-0", "source-1", "aggregate", "operator", "sink"),
    }
    version = Version(**{**given, **more})
    if more.get("settings"):
        version = replace(version, settings={**given["settings"], **more["settings"]})
    return version


def stateful(*operators, **more):
    """A query with a windowed aggregation, and a rewind window of days."""
    settings = {f"{S}minBatchesToRetain": "5000", "spark.sql.shuffle.partitions": "8"}
    pinned = {"spark.sql.shuffle.partitions": "8", f"{S}stateStore.providerClass": HDFS}
    given = {
        "stateful": operators or (aggregate(),),
        "watermarks": (TS,),
        "pinned": pinned,
        "progress": Progress(last_commit_batch=7),
    }
    merged = {**given, **more}
    merged["settings"] = {**settings, **more.get("settings", {})}
    return spark(**merged)


def graph(*ids):
    """Nodes of those ids, one after the other."""
    kinds = {"source": NodeKind.SOURCE, "sink": NodeKind.SINK}
    nodes = tuple(
        Node(i, kinds.get(i.split("-")[0], NodeKind.TRANSFORM), i.split("-")[0], i) for i in ids
    )
    return Topology(nodes, tuple(Edge(a, b) for a, b in pairwise(ids)))


def store(name="counts", number=None, **more):
    """A store of an aggregation."""
    given = {"processors": ("agg",), "subtopology": 0, "node": f"store-{name}"}
    return StreamsStore(
        name=name, number=number, changelog=f"shop-{name}-changelog", **{**given, **more}
    )


def internal(name, kind=InternalKind.CHANGELOG, **configs):
    """An internal topic with these settings of its own."""
    return InternalTopic(
        name=name, kind=kind, configs={k.replace("_", "."): v for k, v in configs.items()}
    )


FINE = {
    "application.id": "shop",
    "deserialization.exception.handler": "org.apache.LogAndContinueExceptionHandler",
    "processing.exception.handler": "org.apache.LogAndContinueProcessingExceptionHandler",
    "errors.dead.letter.queue.topic.name": "shop-dead-letters",
    "task.timeout.ms": "900000",
    "state.dir": "/data/streams",
    "num.standby.replicas": "1",
    "processing.guarantee": "exactly_once_v2",
}


def streams(*, config=None, engine_version=None, **more):
    """An application at which no rule has anything to mend."""
    aggregation = StreamsProcessor(
        name="agg", kind="processor", operator="aggregate", subtopology=0, node="agg"
    )
    source = StreamsSource(processor="in", topics=("orders",), subtopology=0, node="source")
    read = StreamsProcessor(
        name="in", kind="source", operator="source", subtopology=0, successors=("agg",)
    )
    given = {
        "application_id": "shop",
        "described": True,
        "processors": (read, aggregation),
        "stores": (store(),),
        "sources": (source,),
        "sinks": (StreamsSink(processor="out", topic="totals", subtopology=0, node="sink"),),
        "internal": (),
        "config": {k: v for k, v in {**FINE, **(config or {})}.items() if v is not None},
        "protocol": "classic",
    }
    return Version(
        engine=Engine.KAFKA_STREAMS,
        engine_version=engine_version,
        streams=StreamsApplication(**{**given, **more}),
    )


def repartition(**more):
    """A repartition topic that somebody named."""
    given = {"name": "by-city-repartition", "topic": "shop-by-city-repartition", "node": "rep"}
    return Repartition(**{**given, **more})


def topic(name, begin=0, end=1000, *, partitions=1, **more):
    """A topic that is kept for ever and not compacted; its partitions have the same offsets."""
    given = {"retention_ms": -1, "retention_bytes": -1, "cleanup_policy": "delete"}
    parts = tuple(Partition(number=n, begin=begin, end=end) for n in range(partitions))
    return Topic(name=name, partitions=parts, **{**given, **more})


def cluster(*topics, offset=900, members=(), expire="10080", **more):
    """A cluster with the inputs and a compacted output, and the application's group."""
    known = {t.name: t for t in (topic("orders"), topic("totals", cleanup_policy="compact"))}
    known |= {t.name: t for t in topics}
    group = Group(
        id="shop", type=GroupType.CLASSIC, state="stable" if members is None else "empty",
        members=members, offsets=(GroupOffset(topic="orders", partition=0, offset=offset),),
    )  # fmt: skip
    return Cluster(
        id="c", at=NOW.isoformat(), bootstrap="b:9092", topics=known, groups={"shop": group},
        broker_settings={"offsets.retention.minutes": expire} if expire else {}, **more,
    )  # fmt: skip


def running(**more):
    """The cluster while the application's members can't be told from outside."""
    return cluster(members=None, **more) if "members" not in more else cluster(**more)


def stopped(*, days):
    """A pipeline that was seen to stop so long ago."""
    since = (NOW - timedelta(days=days)).isoformat()
    return Activity(state=ActivityState.STOPPED, since=since)


def batch(rows=10, held=1000):
    """The newest batch of a query with one stateful operator."""
    found = OperatorProgress(name="stateStoreSave", rows_total=rows, memory_bytes=held)
    return BatchProgress(query_id="q", run_id="r", batch=7, at=NOW.isoformat(), operators=(found,))
