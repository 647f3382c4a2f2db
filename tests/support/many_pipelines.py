"""A generated registry of many pipelines and topics, for looking at large landscapes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from headgate.model.cluster import Cluster, Partition, Topic
from headgate.model.version import Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from support.console_seed import orders_v1

TEAMS = ("sales", "growth", "finance", "payments", "search", "risk", "logistics", "support")


def topic_name(number: int) -> str:
    """Return the name of a topic, by its domain."""
    return f"{TEAMS[number % len(TEAMS)]}.events-{number}"


def version(number: int, pipelines: int, topics: int, rng: random.Random) -> Version:
    """Return a pipeline that reads two topics of one part and writes one of the next part."""
    v1 = orders_v1()
    base = number * topics // (2 * pipelines)
    orders, payments = (topic_name(base + rng.randrange(topics // 20)) for _ in range(2))
    target = topic_name(base + topics // 20 + rng.randrange(topics // 20))
    told = {"source-orders": {"topics": [orders]}, "source-payments": {"topics": [payments]},
            "sink": {"target": target}}  # fmt: skip
    nodes = tuple(
        replace(n, details={**n.details, **told[n.id]}) if n.id in told else n
        for n in v1.topology.nodes
    )
    sources = v1.sources or ()
    return replace(
        v1,
        name=f"pipeline-{number}",
        topology=replace(v1.topology, nodes=nodes),
        sources=(
            replace(sources[0], topics=(orders,), offsets={orders: {"0": 900, "1": 1100}}),
            replace(sources[1], topics=(payments,), offsets={payments: {"0": 5}}),
        ),
        sink=replace(v1.sink, target=target) if v1.sink else None,
    )


def write(folder: Path, *, pipelines: int = 300, topics: int = 2000) -> Path:
    """Write the registry and a store with one version a pipeline; return the registry."""
    rng = random.Random(7)
    file = folder / "headgate.toml"
    tables = [
        f'[[pipeline]]\nname = "pipeline-{n}"\nengine = "kafka-streams"\n'
        f'owner = "{TEAMS[n % len(TEAMS)]}"\ngroup = "pipeline-{n}"\n'
        for n in range(pipelines)
    ]
    file.write_text("\n".join(tables))
    home = folder / ".headgate"
    home.mkdir(exist_ok=True)
    store = open_store(f"sqlite:///{home / 'headgate.db'}")
    for n in range(pipelines):
        made = version(n, pipelines, topics, rng)
        store.versions.add(f"pipeline-{n}", made, fingerprint(made))
    store.close()
    return file


def cluster(topics: int = 2000) -> Cluster:
    """Return what Kafka would say of the topics."""
    parts = tuple(Partition(number=i, begin=0, end=1000) for i in range(3))
    names = [topic_name(n) for n in range(topics)]
    return Cluster(
        id="c",
        at="2026-11-21T10:00:00+00:00",
        bootstrap="b:1",
        topics={n: Topic(name=n, partitions=parts) for n in names},
    )
