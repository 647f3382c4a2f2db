"""Online upgrade of groups: its steps in order, what stands in its way, and what comes twice."""

from contextlib import closing
from dataclasses import replace

import pytest
import test_online_plan

from headgate.errors import RefusedError, ScenarioError, SchemaError
from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.kafka_streams import StreamsApplication, StreamsSink, StreamsSource
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps import load_step
from headgate.store import open_store
from headgate.store.rows import NewRun
from support.flat_ports import FlatPorts

START = "run --to $HEADGATE_OUTPUT_TOPIC"
COMMANDS = Commands(start=START, stop="halt", status="ask")
ASKED = {"new-pipeline": "p2", "output-topic": "bills", "keys": ["id"]}
GROUP, STREAMS = Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS


class World(FlatPorts):
    """`p` reads `orders` and writes `bills`, `p2` is its new version; `mailer` reads `bills`."""

    def __init__(self, engine=GROUP, new=None, old=None):
        self.engine = engine
        self.known = {
            "p": Pipeline(name="p", engine=engine, group="app", commands=COMMANDS, **(old or {})),
            "p2": Pipeline(
                **{"name": "p2", "engine": engine, "group": "app2", "commands": COMMANDS}
                | (new or {})
            ),
        }
        self.runs = {"p": Status.RUNS, "p2": Status.STOPPED}
        self.at = {"app": {("orders", 0): 40, ("orders", 1): 7}, "app2": {}}
        self.ends = {"orders": (50, 10), "bills": (90, 90)}
        self.there, self.names, self.readers = {"bills"}, set(), {"mailer": True}
        self.issues = None
        self.configs = {"a": "b"}

    def registered(self, name):
        return self.known.get(name)

    def pipelines(self):
        return tuple(self.known.values())

    def status(self, name):
        return self.runs[name]

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def read(self, location):
        return None

    def group(self, name):
        offsets = tuple(
            GroupOffset(topic=t, partition=p, offset=o)
            for (t, p), o in self.at.get(name, {}).items()
        )
        state = "stable" if offsets else "dead"
        return Group(id=name, type=GroupType.CLASSIC, state=state, members=(), offsets=offsets)

    def groups(self):
        return {name: self.group(name) for name in self.at}

    def cluster_id(self):
        return "c"

    def topic_names(self):
        return frozenset(self.names)

    def topics(self, names):
        return {
            n: Topic(
                name=n,
                id=f"id-{n}",
                partitions=tuple(
                    Partition(number=p, begin=0, end=end) for p, end in enumerate(self.ends[n])
                ),
            )
            for n in names
            if n in self.ends
        }

    def topic_consumers(self, names):
        return {n: self.readers if n == "bills" else {} for n in names}

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=f"id-{n}", partitions=2, replication=1, configs=self.configs)
            for n in names
            if n in self.there
        }

    def schema_issues(self, topic, new, old):
        assert new == f"{topic}-shadow"
        if isinstance(self.issues, Exception):
            raise self.issues
        return self.issues


def plan(world, version=None, **more):
    return build_plan("online-upgrade", "p", world, {**ASKED, **more}, version=version)


def test_of_a_compacted_output_only_the_newest_results_count():
    world = World()
    (every,) = [s for s in plan(world).steps if s.action == "compare_versions"]
    assert not every.newest and "compare the results in" in every.describe()
    world.configs = {"cleanup.policy": "compact,delete"}
    (newest,) = [s for s in plan(world).steps if s.action == "compare_versions"]
    assert newest.newest and "compare the newest results of each key in" in newest.describe()


def test_the_new_version_is_compared_beside_the_old_one_before_either_is_stopped():
    made = plan(World(), tolerance="0.5", ignore=["at"], **{"compare-for": 7, "max-lag": 5})
    assert made.can_apply, made.blockers
    steps = {s.action: s for s in made.steps}
    assert [s.action for s in made.steps] == [
        "create_shadow_topic",
        "copy_offsets",
        "start_with_output",
        "compare_versions",
        "await_equal_lag",
        "stop_beside",
        "stop_pipeline",
        "back_up_offsets",
        "switch_offsets",
        "start_with_output",
        "verify_version",
        "delete_shadow_topic",
    ]
    assert [load_step(s.action, s.details()) for s in made.steps] == list(made.steps)
    assert all(step.undoable for step in made.steps)
    starts = [s for s in made.steps if s.action == "start_with_output"]
    assert [(s.pipeline, s.output) for s in starts] == [("p2", "bills-shadow"), ("p2", "bills")]
    assert "HEADGATE_OUTPUT_TOPIC=bills-shadow" in starts[0].describe()
    compare = steps["compare_versions"]
    assert (compare.keys, compare.tolerance, compare.ignore) == (("id",), 0.5, ("at",))
    assert (compare.seconds, compare.must_match, compare.drains) == (7, True, False)
    assert (compare.group, compare.new_group, set(compare.topics)) == ("app", "app2", {"orders"})
    assert steps["await_equal_lag"].max_lag == 5
    assert steps["stop_beside"].undo({"running": True}) == ()
    assert not steps["switch_offsets"].has_state
    assert made.impact == {"consumers": ["mailer"], "lag": 13}
    assert load_plan(dump_plan(made), source="x") == made


def test_a_person_confirms_the_switch_after_the_comparison():
    made = plan(World(), **{"confirm-switch": True})
    actions = [s.action for s in made.steps]
    assert actions[3:6] == ["compare_versions", "confirm_switch", "await_equal_lag"]
    (asked,) = [s for s in made.steps if s.action == "confirm_switch"]
    assert (asked.pipeline, asked.new, asked.topic) == ("p", "p2", "bills-shadow")
    assert load_plan(dump_plan(made), source="x") == made


def test_an_application_is_stopped_behind_the_old_one_and_keeps_its_own_offsets():
    made = plan(World(STREAMS))
    actions = [s.action for s in made.steps]
    assert actions[5:9] == ["stop_beside", "await_old_version", "stop_pipeline", "back_up_offsets"]
    steps = {s.action: s for s in made.steps}
    assert steps["switch_offsets"].has_state and steps["compare_versions"].drains
    assert steps["copy_offsets"].earliest
    (back,) = steps["copy_offsets"].undo({"moves": []})
    assert (back.action, back.group) == ("drop_application", "app2")
    said = " ".join(made.risks)
    assert "rebuilds its state from all records of orders (up to 60 records)" in said
    assert "consumers get the results of these records twice" in said
    assert "no `clean` command" in said
    late = plan(World(STREAMS), **{"start-at": "committed"})
    assert not {s.action: s for s in late.steps}["copy_offsets"].earliest
    said = " ".join(late.risks)
    assert "p2 starts at the committed offsets with empty state" in said
    assert "set --start-at to earliest" in said


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"engine": Engine.SPARK, "checkpoint": "/ck"}, "Pass a pipeline with the same engine"),
        ({"group": "app"}, "needs its own consumer group"),
        ({"group": None}, "needs its own consumer group"),
        ({"topics": ("clicks",)}, "Both versions must read the same topics"),
        ({"commands": replace(COMMANDS, stop=None)}, "p2 has no stop command"),
        ({"commands": replace(COMMANDS, start="run")}, "doesn't contain HEADGATE_OUTPUT_TOPIC"),
    ],
)
def test_what_the_declaration_of_the_new_version_lacks(new, said):
    made = plan(World(new=new))
    assert any(said in reason for reason in made.blockers), made.blockers


def test_a_pipeline_that_is_not_registered_and_a_number_below_0():
    assert "nobody isn't registered" in plan(World(), **{"new-pipeline": "nobody"}).blockers[0]
    assert plan(World(), **{"new-pipeline": "p"}).blockers == (
        "--new-pipeline: p is the old version. Add the new version as a [[pipeline]] of its own to "
        "headgate.toml, and pass its name",
    )
    with pytest.raises(ScenarioError, match="--max-lag"):
        plan(World(), **{"max-lag": -1})


def test_the_old_version_must_run_and_the_new_one_must_not():
    world = World()
    world.runs = {"p": Status.STOPPED, "p2": Status.RUNS}
    said = plan(world).blockers
    assert any("p isn't running" in reason for reason in said)
    assert any("p2 is already running" in reason for reason in said)


def test_topics_that_can_not_be_switched():
    world = World()
    world.there = {"bills", "bills-shadow"}
    assert "topic bills-shadow already exists" in plan(world).blockers[0]
    del world.at["app"]["orders", 1]
    assert any("no committed offset for orders[1]" in reason for reason in plan(world).blockers)
    # Without a record there is nothing of which the first offset would be unknown.
    world.there, world.ends["orders"] = {"bills"}, (50, 0)
    assert plan(world).can_apply
    world.at["app"] = {}
    assert "no committed offsets. Start p first" in plan(world).blockers[0]
    world = World()
    assert "topic nothing does not exist" in plan(world, **{"output-topic": "nothing"}).blockers[0]


def test_consumers_of_the_output_decide_whether_a_schema_blocks_the_plan():
    world = World()
    world.issues = ("AVR001: gone",)
    (said,) = plan(world).blockers
    assert "the output schema isn't compatible: AVR001: gone. Consumers of bills: mailer" in said
    world.readers = {}
    made = plan(world)
    assert made.can_apply and any("no known consumers" in risk for risk in made.risks)
    world.issues = ()
    assert not any("schema" in risk for risk in plan(world).risks)
    world.issues = None
    assert any("know the schema of bills-shadow yet" in risk for risk in plan(world).risks)
    world.issues = SchemaError("broken")
    assert "can't be compared: broken" in plan(world).blockers[0]


def test_an_application_that_has_run_before_or_has_more_outputs_is_refused():
    world = World(STREAMS)
    world.names = {"app2-counts-changelog", "app2-other-counts-changelog", "app-counts-changelog"}
    world.at["app2-other"] = {}
    (said,) = plan(world).blockers
    assert "app2 already has topics app2-counts-changelog. Delete them with kafka-topics.sh" in said
    world.at["app2"] = {("orders", 0): 3}
    (said,) = plan(world).blockers
    assert "Delete them with `headgate plan decommission p2`, or give p2 a new" in said
    facts = StreamsApplication(
        application_id="app",
        described=True,
        sources=(StreamsSource(processor="s", topics=("orders", "between")),),
        sinks=(
            StreamsSink(processor="s", topic="bills"),
            StreamsSink(processor="s", topic="between"),
            StreamsSink(processor="s", topic="log"),
        ),
    )
    version = Version(engine=STREAMS, streams=facts)
    said = plan(World(STREAMS), version).blockers
    assert any("both writes and reads these topics: between" in reason for reason in said)
    assert any("also writes to log" in reason for reason in said)


def test_effects_are_named_unless_both_versions_are_idempotent():
    from headgate.model.registered_pipelines import Effects

    idempotent = {"effects": Effects.IDEMPOTENT}
    assert any("happen twice" in risk for risk in plan(World(new=idempotent)).risks)
    both = World(new=idempotent, old=idempotent)
    assert not any("happen twice" in risk for risk in plan(both).risks)


def test_offsets_of_a_topic_that_is_no_longer_read_are_named_and_not_waited_for():
    world = World(old={"topics": ("orders",)})
    world.at["app"][("old", 0)] = 2
    world.ends["old"] = (9,)
    plan = build_plan("online-upgrade", "p", world, ASKED)
    assert plan.can_apply, plan.blockers
    steps = [s.details() for s in plan.steps if s.action == "compare_versions"]
    assert [list(s["topics"]) for s in steps] == [["orders"]]
    assert any("group app has committed offsets of old, but" in risk for risk in plan.risks)


@pytest.mark.parametrize(
    ("made", "output"),
    [(plan(World()), "bills"), (test_online_plan.plan(test_online_plan.World()), "known")],
    ids=["groups", "spark"],
)
def test_no_other_run_may_use_the_output_topic(tmp_path, made, output):
    def enqueue(pipeline, *resources):
        new = NewRun(scenario=made.scenario, pipeline=pipeline, plan_hash=made.hash,
                     plan=dump_plan(made), resources=resources)  # fmt: skip
        return store.runs.enqueue(new, by="ann", action="apply")

    with closing(open_store(f"sqlite:///{tmp_path / 'db'}")) as store:
        run = enqueue("p", *made.resources)
        for topic in (output, f"{output}-shadow"):
            with pytest.raises(RefusedError, match=f"{run} is queued and uses topic {topic}: wait"):
                enqueue("other", "group:other", f"topic:{topic}")
        # Others may read what both versions read.
        enqueue("other", "group:other", "topic:orders")
