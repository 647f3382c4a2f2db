"""A cluster on paper: two topics, and the offsets of two groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from support.flat_ports import FlatPorts

NOON = "2026-11-21T12:00:00Z"
NOON_MS = 1_795_262_400_000


def part(number, begin=0, end=10):
    return Partition(number=number, begin=begin, end=end)


def at(topic, number, offset):
    return GroupOffset(topic=topic, partition=number, offset=offset)


@dataclass
class PaperInspector(FlatPorts):
    """Two topics: `orders` was cut off up to 2, `clicks` was committed in one partition only."""

    engine: Engine = Engine.CONSUMER_GROUP
    first: dict = field(default_factory=dict)
    asked_at: int | None = None
    groups: dict = field(
        default_factory=lambda: {
            "g": (at("orders", 0, 7), at("orders", 1, 2), at("clicks", 0, 5)),
            "h": (at("orders", 0, 3), at("orders", 1, 9)),
        }
    )
    known: dict = field(
        default_factory=lambda: {
            "orders": Topic(name="orders", id="o", partitions=(part(0, begin=2), part(1))),
            "clicks": Topic(name="clicks", id="c", partitions=(part(0), part(1))),
        }
    )

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c-1"

    def topics(self, names):
        return {n: self.known[n] for n in names if n in self.known}

    def first_at(self, parts, at):
        self.asked_at = at
        return {p: self.first.get(p) for p in parts}

    def group(self, group_id):
        offsets = self.groups.get(group_id, ())
        state = "empty" if offsets else "dead"
        return Group(id=group_id, type=GroupType.CONSUMER, state=state, members=(), offsets=offsets)

    def read(self, location):
        return None

    def status(self, pipeline):
        return Status.STOPPED

    def pipelines(self):
        return ()

    def place(self, location):
        return location

    def registered(self, pipeline):
        return Pipeline(name="q", engine=self.engine, group="g", checkpoint="/ck")


def plan(inspector=None, **options):
    return build_plan("from-point", "q", inspector or PaperInspector(), options)


def moves(made):
    step = next(s for s in made.steps if s.action == "reset_offsets")
    return {(m["topic"], m["partition"]): (m["from"], m["to"]) for m in step.details()["offsets"]}


def of_orders(begin, first=None, **topic):
    """Two partitions of `orders`, the first of which begins at this offset."""
    parts = (part(0, begin=begin, end=100), part(1, end=100))
    known = {"orders": Topic(name="orders", id="o", partitions=parts, **topic)}
    inspector = PaperInspector(known=known, first=first or {("orders", 0): 50, ("orders", 1): 50})
    inspector.groups["g"] = (at("orders", 0, 70), at("orders", 1, 70))
    return inspector
