"""Which results of a chain aren't exact, and what is lost, on a cluster on paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from headgate.model.cluster import Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.kafka_streams import (
    StreamsApplication,
    StreamsSink,
    StreamsSource,
    StreamsStore,
)
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Version
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.base.step import pipeline_of
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.reprocess.steps.process.stop_start import StartPipeline
from support.flat_ports import FlatPorts

COMMANDS = Commands(start="true", stop="true", status="exit 3")
STREAMS, GROUP = Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP
NOON, NOON_MS = "2026-04-02T12:00:00.000Z", 1_775_131_200_000


def pipeline(name, engine=STREAMS, topics=(), commands=COMMANDS):
    return Pipeline(name=name, engine=engine, group=name, topics=topics, commands=commands)


def application(reads, writes, *stores):
    facts = StreamsApplication(
        described=True,
        stores=tuple(StreamsStore(name=s, changelog=f"{s}-changelog") for s in stores),
        sources=(StreamsSource(processor="s", topics=tuple(reads.split())),),
        sinks=tuple(StreamsSink(processor=f"o-{t}", topic=t) for t in writes.split()),
    )
    nodes = (
        Node("s", NodeKind.SOURCE, "source", "s", details={"topics": reads.split()}),
        *(
            Node(f"o-{t}", NodeKind.SINK, "sink", t, details={"topics": [t]})
            for t in writes.split()
        ),
    )
    return Version(engine=STREAMS, streams=facts, topology=Topology(nodes=nodes))


def topic(name, begin=0, policy="delete", times="CreateTime"):
    part = Partition(number=0, begin=begin, end=10)
    return Topic(
        name=name, id=f"id-{name}", partitions=(part,), cleanup_policy=policy, timestamp_type=times
    )


def _of(at, name):
    return at[name] if isinstance(at, dict) else at


@dataclass
class Paper(FlatPorts):
    """`first` reads a and writes b; `bill` is a consumer group of b. Each log ends at 10."""

    apps: dict = field(default_factory=lambda: {"first": application("a", "b")})
    readers: dict = field(default_factory=lambda: {"bill": "b"})
    logs: dict = field(default_factory=lambda: {n: topic(n) for n in "abcde"})
    at: dict = field(default_factory=dict)
    kinds: dict = field(default_factory=dict)
    first: dict = field(default_factory=dict)
    active: set = field(default_factory=set)
    commands: dict = field(default_factory=dict)

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c-1"

    def pipelines(self):
        groups = (
            pipeline(n, GROUP, tuple(t.split()), self.commands.get(n, COMMANDS))
            for n, t in self.readers.items()
        )
        apps = (pipeline(n, commands=self.commands.get(n, COMMANDS)) for n in self.apps)
        return (*apps, *groups)

    def registered(self, name):
        return next((p for p in self.pipelines() if p.name == name), None)

    def status(self, name):
        return Status.STOPPED

    def topics(self, names):
        return {n: self.logs[n] for n in names if n in self.logs}

    def topic_names(self):
        return frozenset(self.logs)

    def topic_consumers(self, names):
        return {}

    def topics_in_transaction(self, names):
        return ()

    def groups(self):
        return {p.name: self.group(p.name) for p in self.pipelines()}

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=f"id-{n}", partitions=1, replication=1)
            for n in names
            if n in self.logs
        }

    def first_at(self, parts, at):
        return {p: self.first.get(p[0], 0) if at else 0 for p in parts}

    def group(self, name):
        app = self.apps.get(name)
        read = app.streams.sources[0].topics if app else self.readers[name].split()
        offsets = tuple(
            GroupOffset(topic=t, partition=0, offset=_of(self.at.get(name, 10), t)) for t in read
        )
        kind = self.kinds.get(name, GroupType.CLASSIC)
        members = (Member(id=f"{name}-1"),) if name in self.active else ()
        state = "stable" if members else "empty"
        return Group(id=name, type=kind, state=state, members=members, offsets=offsets)

    def plan(self, **options):
        options = options or {"to-earliest": True}
        given = {name.replace("_", "-"): value for name, value in options.items()}
        return build_plan(
            "chain", "first", self, given, version=self.apps["first"], versions=self.apps.get
        )


def exact(plan):
    return {row["pipeline"]: row["is_exact"] for row in plan.impact["chain"]}


def said(plan, *words):
    texts = (*plan.blockers, *plan.risks, *plan.outputs.run)
    return [text for text in texts if all(w in text for w in words)]


def test_all_of_the_output_is_rewritten_if_all_of_the_input_is_there():
    plan = Paper(at={"bill": 4}).plan()
    assert plan.can_apply, plan.blockers
    assert exact(plan) == {"first": True, "bill": True}
    assert not said(plan, "may not be rewritten") and not said(plan, "are lost. Let the")


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (topic("a", begin=2), "a no longer has its first records"),
        (topic("a", policy="compact,delete"), "topic a is compacted"),
        (topic("a", policy=None), "the cleanup.policy of topic a is unknown"),
    ],
)
def test_what_the_input_no_longer_holds_is_not_rewritten(log, why):
    """Retention of the input is shorter than that of its output: unread records are lost."""
    paper = Paper(at={"bill": 4})
    paper.logs["a"] = log
    plan = paper.plan()
    assert exact(plan) == {"first": False, "bill": False}
    assert said(plan, "first: some old results may not be rewritten", why)
    assert said(plan, "bill: the run skips 6 unread records of b", "are lost")
    read = replace(paper, at={})
    assert not said(read.plan(), "unread record"), "all was read before"


def test_a_state_that_is_reset_lacks_what_is_not_rewritten():
    paper = Paper(readers={})
    paper.apps["sums"] = application("b", "c", "sums")
    assert exact(paper.plan()) == {"first": True, "sums": True}
    paper.logs["a"] = topic("a", begin=2)
    plan = paper.plan()
    assert exact(plan) == {"first": False, "sums": False}
    assert said(plan, "sums: the new results lack the records of b that aren't rewritten")


@pytest.mark.parametrize(("command", "is_blocked"), [(None, True), ("true", False)])
def test_an_undo_is_blocked_by_a_group_that_none_of_its_steps_stops(command, is_blocked):
    """A stop command of the first pipeline stops no member of another group."""
    paper = Paper(active={"bill"})
    start = {"command": "true", "has_status": True}
    row = {"topic": "b", "partition": 0, "was": {"offset": 4}, "to": {"offset": 10}}
    steps = (
        ResetOffsets(
            group="bill", group_type="classic", target=Target(place=TargetKind.END),
            topics={"b": {"id": "id-b", "partitions": 1}}, pipeline="bill",
        ),
        StartPipeline(pipeline="first", stop="true", **start),
        StartPipeline(pipeline="bill", stop=command, **start),
    )  # fmt: skip
    done = [Record(state=StepState.DONE, begun=True, was=was) for was in ({"moves": [row]}, {}, {})]
    paper.commands = {"bill": replace(COMMANDS, stop=command)}
    past = Past(
        run="r-0",
        plan=Plan(
            scenario="chain", pipeline="first", steps=steps, preconditions={"cluster_id": "c-1"}
        ),
        records=dict(enumerate(done)),
    )
    undo = build_undo(past, paper)
    assert [pipeline_of(s, None) for s in undo.steps if s.stops] == ["bill", "first"][is_blocked:]
    assert bool(undo.blockers) is is_blocked, undo.blockers
    assert not is_blocked or "group bill still has 1 member" in undo.blockers[0]


def diamond():
    """`left` and `right` read b, `last` reads both; `end` is a group of what it writes."""
    paper = Paper(readers={"end": "e"})
    paper.apps |= {
        "left": application("b", "c"), "right": application("b", "d"),
        "last": application("c d", "e", "sums"),
    }  # fmt: skip
    return paper


def test_duplicates_of_an_excluded_pipeline_are_named_at_the_next_one():
    """`last` is reached by way of `right`, so the list of those left out doesn't have it."""
    plan = diamond().plan(to_earliest=True, exclude=["left"])
    assert exact(plan) == {
        "first": True, "left": False, "right": True, "last": False, "end": False,
    }  # fmt: skip
    assert said(plan, "last: left keeps running and writes duplicates to c")
    assert said(plan, "its state counts them twice")
    assert all(exact(diamond().plan()).values())
    assert not said(diamond().plan(), "keeps running and writes duplicates")


def moves(plan, group):
    steps = [s for s in plan.steps if getattr(s, "group", None) == group and hasattr(s, "offsets")]
    return {(o["topic"], o["partition"]): o["to"] for s in steps for o in s.offsets}


def test_a_rewound_group_is_never_moved_forward():
    """The replaced records begin at 4: from 2 on, records 2 and 3 would be lost."""
    asked = {"at": NOON, "choose": ["bill=rewind"]}
    paper = Paper(first={"a": 10, "b": 4})
    assert moves(paper.plan(**asked), "bill") == {("b", 0): 4}
    behind = replace(paper, at={"bill": 2}).plan(**asked)
    assert said(behind, "bill: the group hasn't processed any replaced record")
    both = replace(paper, readers={"bill": "b c"}, at={"bill": {"b": 2, "c": 9}})
    both.apps["first"] = application("a", "b c")
    plan = both.plan(**asked)
    assert plan.can_apply, plan.blockers
    assert moves(plan, "bill") == {("c", 0): 0}
    assert said(plan, "bill has unread records from before the target time in b[0]")


def test_a_first_pipeline_with_older_unread_records_is_not_moved_to_the_moment():
    paper = Paper(first={"a": 7, "b": 4})
    assert paper.plan(at=NOON).can_apply
    behind = replace(paper, at={"first": 6}).plan(at=NOON)
    assert said(behind, f"first: unread records from before {NOON} in a[0] would be lost")
    assert not behind.can_apply


def test_unread_results_that_may_be_older_than_the_target_time_are_counted():
    """The boundary in b is approximate: which of the 4 unread records are rewritten is open."""
    paper = Paper(first={"a": 7, "b": 5}, at={"bill": 6})
    plan = paper.plan(at=NOON)
    assert plan.can_apply, plan.blockers
    assert said(plan, "bill: the run skips 4 unread records of b", "are lost")
    assert said(plan, "up to 5 records of b count as replaced", "reprocesses up to 3 records")
    same = Paper(first={"a": 5, "b": 5}).plan(at=NOON)
    assert not said(same, "unread record") and not said(same, "count as replaced")


def test_times_of_writing_do_not_say_which_unread_results_are_older():
    """After a backfill, all of b is newer than the target time, a time of a."""
    paper = Paper(first={"a": 7, "b": 0}, at={"bill": 4})
    paper.logs["b"] = topic("b", times="LogAppendTime")
    plan = paper.plan(at=NOON)
    (blocker,) = plan.blockers
    assert blocker.startswith("bill: the run would skip 6 unread records of b, and lose those")
    assert said(plan, "topic b has message.timestamp.type=LogAppendTime", "lose them")
    assert moves(paper.plan(at=NOON, choose=["bill=rewind"]), "bill") == {("b", 0): 0}
    assert paper.plan(at=NOON, exclude=["bill"]).can_apply
    assert paper.plan().can_apply, "all of b is rewritten"
    read = replace(paper, at={}).plan(at=NOON)
    assert read.can_apply, "what was read isn't lost"


def test_a_reset_names_writers_that_may_be_restarted():
    paper = Paper(readers={})
    paper.apps["sums"] = application("b", "c", "sums")
    assert said(paper.plan(), "sums: Headgate doesn't check again before the reset whether")
    paper.commands = {"first": replace(COMMANDS, suspend="true", reenable="true")}
    assert not said(paper.plan(), "doesn't check again")


def test_an_application_without_state_may_have_a_group_of_type_streams():
    paper = Paper(readers={}, kinds={"shout": GroupType.STREAMS})
    paper.apps["shout"] = application("b", "c")
    plan = paper.plan()
    assert plan.can_apply, plan.blockers
    assert plan.impact["chain"][1]["choice"] == "skip"
    other = Paper(kinds={"bill": GroupType.STREAMS}).plan()
    assert said(other, "bill: group bill is of type streams, not a consumer group")


def loop(back="b"):
    """`there` reads b, `again` reads that and writes `back`."""
    paper = Paper(readers={})
    paper.apps |= {"there": application("b", "c"), "again": application("c", back)}
    return paper


def test_a_cycle_names_only_exclusions_that_break_it():
    """What an excluded pipeline writes still leads back: without `again`, the cycle is the same."""
    (blocker,) = loop().plan().blockers
    assert blocker.endswith("Pass --exclude with there")
    assert "form a cycle" in loop().plan(to_earliest=True, exclude=["again"]).blockers[0]
    assert not any("cycle" in b for b in loop().plan(to_earliest=True, exclude=["there"]).blockers)
    paper = Paper(readers={})
    paper.apps["there"] = application("b", "a")
    assert paper.plan().blockers[0].endswith("No exclusion breaks this cycle: plan each pipeline "
                                             "separately")  # fmt: skip


def test_the_first_pipeline_can_t_be_excluded():
    (blocker,) = Paper().plan(to_earliest=True, exclude=["first"]).blockers
    assert blocker.startswith("first is the first pipeline of the chain, so it can't be excluded")
    (blocker,) = (
        b for b in Paper().plan(to_earliest=True, choose=["first=skip"]).blockers if "--choose" in b
    )
    assert blocker == "first: --choose: for the first pipeline, use reset"


def test_nothing_downstream_names_only_scenarios_of_the_engine():
    (blocker,) = Paper(readers={}).plan().blockers
    assert blocker.endswith("no registered pipeline reads b. Use from-point or from-scratch")
