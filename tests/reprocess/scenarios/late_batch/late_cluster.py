"""A cluster with late records and what is measured of them, and plans that are made of it."""

from dataclasses import replace
from datetime import UTC, datetime

from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import (
    Engine,
    OperatorKind,
    Sink,
    Source,
    StatefulOperator,
    Version,
    Window,
)
from headgate.reprocess.ports.spark_jobs import LateTouch
from headgate.reprocess.scenarios.build import build_plan
from headgate.text.times import milliseconds
from support.flat_ports import FlatPorts

DAY_US = 86_400_000_000
DAY = datetime(2026, 4, 2, tzinfo=UTC)
PIPELINE = Pipeline(
    name="totals", engine=Engine.SPARK, entry_point="m:f", checkpoint="/data/checkpoint"
)
WINDOW = StatefulOperator(
    kind=OperatorKind.AGGREGATE,
    window=Window(column="s0.at", size_us=DAY_US, slide_us=DAY_US),
    watermark_column="s0.at",
)
TOTAL = StatefulOperator(kind=OperatorKind.AGGREGATE)


def topic(name, *parts):
    found = tuple(Partition(number=n, begin=b, end=e) for n, (b, e) in enumerate(parts))
    return Topic(name=name, id=f"id-{name}", partitions=found)


TOUCH = LateTouch(
    late=12, repeated=1, in_input=1, new=10, keys=2, pairs=3, sample=({"customer": "a"},),
    columns=("customer", "window"), time="window", first=milliseconds(DAY),
    last=milliseconds(DAY), rows=300, touched_rows=2, files=4,
    touched_files=1, bytes=4000, touched_bytes=1000, assumed=(),
)  # fmt: skip
NO_TIME = replace(TOUCH, time=None, first=None, last=None, columns=("customer",))


class Cluster(FlatPorts):
    """Topics, one folder of results and one of late files; what is measured is given."""

    def __init__(self, touch=TOUCH, **facts):
        self.touch, self.asked = touch, []
        self.logs = {"orders": topic("orders", (0, 100), (0, 50)), "late": topic("late", (3, 9))}
        self.arrivals = {}
        self.writable = True
        self.contents = {"/data/totals": "h1", "/data/late": "h2"}
        for name, value in facts.items():
            setattr(self, name, value)

    def place(self, location):
        return location

    def registered(self, name):
        return PIPELINE if name == "totals" else None

    def pipelines(self):
        return (PIPELINE,)

    def topics(self, names):
        return {n: self.logs[n] for n in names if n in self.logs}

    def identities(self, names):
        return {n: (t.id, len(t.partitions)) for n, t in self.topics(names).items()}

    def cluster_id(self):
        return "cluster"

    def first_at(self, parts, at):
        logs = {(n, p.number): p for n, topic in self.logs.items() for p in topic.partitions}
        first = {(part, 0): log.begin for part, log in logs.items() if log.begin < log.end}
        return {part: self.arrivals.get((part, at), first.get((part, at))) for part in parts}

    def exists(self, folder):
        return folder in self.contents

    def content_hash(self, folder):
        return self.contents.get(folder)

    def can_write(self, _folder):
        return self.writable

    def system_folder(self, folder, known):
        return known.get(folder)

    def late_touch(self, job, inputs):
        self.asked.append((job, dict(inputs)))
        return self.touch


def plan_of(cluster, *operators, again=False, **options):
    sources = (Source(position=0, format="kafka", topics=("orders",)),)
    version = Version(
        engine=Engine.SPARK, stateful=operators, sources=sources,
        sink=Sink(format="parquet", target="/data/sink"),
    )  # fmt: skip
    given = {"late": ["late"], "keys": ["customer"], "to": "/data/totals"} | options
    given = {name.replace("_", "-"): value for name, value in given.items()}
    return build_plan("late-batch", "totals", cluster, given, version=version, again=again)


def argument(job, name):
    return job.arguments[job.arguments.index(name) + 1]
