"""Online upgrade: its steps in order, what stands in its way, and what its undo restores."""

from dataclasses import replace

import pytest

from headgate.errors import ScenarioError, SchemaError
from headgate.model.cluster import Partition, Topic
from headgate.model.output_columns import Payload
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import SnapshotSize
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Engine, Sink, Source, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.evidence import Judged, UpgradeVerdict
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps import load_step
from support.flat_ports import FlatPorts

COMMANDS = Commands(start="run", stop="halt", status="ask", deploy="ship", rollback="return")
KAFKA = SourcePosition(name="0", kind=SourceKind.KAFKA, offsets={"orders": {0: 40}})
SINK = Sink(format="kafka", target="known")
VERSION = Version(engine=Engine.SPARK, sources=(Source(position=0, topics=("orders",)),), sink=SINK)
ASKED = {"after": "m:next", "keys": ["id"]}
VERDICT = UpgradeVerdict(
    outcome="resumes", before="b", after="a", evidence="m:next", compared="p@3"
)


class World(FlatPorts):
    """One registered query from `orders` to `known`; `mailer` reads what it writes."""

    def __init__(self, engine=Engine.SPARK, commands=COMMANDS, **fields):
        given = {"checkpoint": "/ck"} if engine is Engine.SPARK else {"group": "app"}
        self.pipeline = Pipeline(
            name="p", engine=engine, commands=commands, **(given | {"entry_point": "m:f"} | fields)
        )
        self.other = Pipeline(name="reader", engine=Engine.SPARK, checkpoint="/reader")
        self.sources, self.judged, self.there = (KAFKA,), VERDICT, {"known"}
        self.asked, self.issues, self.readers = None, (), {"mailer": True}

    def registered(self, name):
        return self.pipeline

    def pipelines(self):
        return (self.pipeline, self.other)

    def place(self, checkpoint):
        return checkpoint

    def read(self, location):
        topic = "orders" if location == "/ck" else "known"
        return Checkpoint(
            location=location, query_id="q", last_commit_batch=3, offsets={topic: {0: 40}}
        )

    def query_position(self, location):
        return QueryPosition(batch=3, sources=self.sources)

    def snapshot_size(self, location):
        return SnapshotSize(bytes=10, copied=2, files=3)

    def status(self, name):
        return Status.RUNS

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def cluster_id(self):
        return "c"

    def master(self):
        return "local[*]"

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=90),)
        return {n: Topic(name=n, id=f"id-{n}", partitions=parts) for n in names}

    def topic_consumers(self, names):
        return dict.fromkeys(names, self.readers)

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=f"id-{n}", partitions=1, replication=1, configs={"a": "b"})
            for n in names
            if n in self.there
        }

    def schema_issues(self, topic, new, old):
        assert (topic, new, old.place) == ("known", self.judged.sink or Sink(), "known")
        if isinstance(self.issues, Exception):
            raise self.issues
        return self.issues

    def verdict(self, pipeline, after, before, fail_on):
        self.asked = (pipeline, after, before, fail_on)
        return self.judged


def plan(world, version=VERSION, **more):
    return build_plan("online-upgrade", "p", world, {**ASKED, **more}, version=version)


def test_a_shadow_topic_that_kafka_would_not_create_is_a_blocker():
    world = World()
    world.uncreatable = lambda shapes: {s.name: f"not {s.name}" for s in shapes}
    assert plan(world).blockers == ("not known-shadow",)


def test_the_steps_switch_only_after_the_comparison_and_the_check_for_conflicts():
    world = World()
    made = plan(world, tolerance="0.5", ignore=["at"], **{"compare-for": 7})
    assert made.can_apply, made.blockers
    assert [s.action for s in made.steps] == [
        "create_shadow_topic",
        "stage_checkpoint",
        "run_beside",
        "compare_outputs",
        "run_beside",
        "check_production",
        "stop_pipeline",
        "run_beside",
        "swap_staged_checkpoint",
        "deploy_version",
        "start_version",
        "verify_switch",
        "compare_version",
        "delete_shadow_topic",
    ]
    assert all(step.undoable for step in made.steps)
    assert [load_step(s.action, s.details()) for s in made.steps] == list(made.steps)
    shadow, _, beside, compared = made.steps[:4]
    assert (shadow.topic, shadow.like) == ("known-shadow", "known")
    assert shadow.shape == {"partitions": 1, "replication": 1, "configs": {"a": "b"}}
    assert (beside.entry_point, beside.topic, beside.goal, beside.seconds) == (
        "m:next",
        "known-shadow",
        "compare",
        7,
    )
    assert (compared.keys, compared.tolerance, compared.ignore) == (("id",), 0.5, ("at",))
    assert compared.must_match
    (catch_up,) = [s for s in made.steps if s.details().get("goal") == "catch_up"]
    assert catch_up.max_lag == 10
    assert [s.goal for s in made.steps if s.action == "run_beside"] == [
        "compare",
        "catch_up",
        "switch",
    ]
    assert made.impact["consumers"] == ["mailer", "reader"]
    assert made.preconditions["versions"] == {"before": "b", "after": "a"}
    # Built again, it is stale if a newer version was stored: that may be another running one.
    check = next(s for s in made.steps if s.action == "check_production")
    assert "before" not in made.options and check.before is None
    assert (check.running, check.version) == ("b", "a")
    (check,) = [s for s in plan(world, before="p@2").steps if s.action == "check_production"]
    assert check.before == "p@2"


def test_its_undo_restores_the_checkpoint_and_says_what_comes_twice():
    made = plan(World())
    (swap,) = [s for s in made.steps if s.action == "swap_staged_checkpoint"]
    (back,) = swap.undo({"aside": "/.ck.before-r", "hash": "h", "copy": "/.ck.staged-r"})
    assert back.action == "restore_checkpoint" and back.aside == "/.ck.before-r"
    assert [s.action for s in made.steps[0].undo({})] == ["delete_shadow_topic"]
    assert [s.action for s in made.steps[1].undo({"copy": "/c"})] == ["delete_copy"]
    assert any("second time" in said for said in made.outputs.undo)
    assert any("second time" in risk for risk in made.risks)


def test_findings_block_the_plan():
    world = World()
    finding = Judged(rule="SSS001", outcome="refuses", why="no", closes=True)
    world.judged = replace(VERDICT, findings=(finding,))
    made = plan(world)
    assert (
        made.blockers == ("the check of the new version fails: SSS001 (fails to start): no",)
        and not made.steps
    )


def test_an_open_question_says_which_version_was_compared_and_what_answers_it():
    world = World()
    finding = Judged(rule="DED002", outcome="unknown", why="no", closes=True, question="which?")
    world.judged = replace(VERDICT, findings=(finding, replace(finding, question=None)))
    *found, last = plan(world).blockers
    assert len(found) == 2 and "version from p@3" in last and "--before" in last
    world.judged = replace(world.judged, compared="")
    assert "version from its checkpoint" in plan(world).blockers[-1]


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        (None, "doesn't know where the running version writes"),
        (Sink(format="parquet", target="/out"), "needs a Kafka topic as the sink"),
        (Sink(format="kafka"), "sets no `topic` option"),
    ],
)
def test_only_one_topic_can_be_replaced(sink, said):
    made = plan(World(), version=replace(VERSION, sink=sink))
    assert said in " ".join(made.blockers) and not made.can_apply


@pytest.mark.parametrize(
    ("settings", "lag", "ok"),
    [({}, 99, True), ({}, 100, False), ({"minBatchesToRetain": "5"}, None, False)],
)
def test_a_lag_beyond_the_retained_batches_blocks_it(settings, lag, ok):
    named = {f"spark.sql.streaming.{name}": value for name, value in settings.items()}
    version = replace(VERSION, settings=named)
    made = plan(World(), version=version, **({} if lag is None else {"max-lag": lag}))
    assert made.can_apply is ok
    assert ok or "Pass a smaller --max-lag" in made.blockers[0]


def test_keys_that_the_results_do_not_have_block_it():
    schema = Schema((Field("id", "string"), Field("n", "long")))
    payload = Payload(column="value", writer="to_json", schema=schema)
    version = replace(VERSION, sink=replace(SINK, payloads=(payload,)))
    made = plan(World(), version=version, keys=["id", "ident"])
    assert made.blockers == (
        "--keys: columns not found in the results: ident. The results have id, n",
    )
    for keys in (["id"], ["key"]):
        assert plan(World(), version=version, keys=keys).can_apply
    unknown = replace(VERSION, sink=replace(SINK, payloads=(replace(payload, schema=None),)))
    assert plan(World(), version=unknown, keys=["ident"]).can_apply


def test_consumers_of_the_output_decide_whether_a_schema_blocks_the_plan():
    world = World()
    world.judged = replace(VERDICT, sink=Sink(format="kafka", target="known", output_mode="append"))
    world.issues = ("field city is missing",)
    assert plan(world).blockers == (
        "the output schema isn't compatible: field city is missing. Consumers of known: mailer, "
        "reader. Keep these fields, or write to a new topic",
    )
    world.readers, world.other = {}, world.pipeline
    made = plan(world)
    said = "the output schema isn't compatible: field city is missing. known has no known consumers"
    assert made.can_apply and said in made.risks
    world.issues = ()
    assert not any("schema" in risk for risk in plan(world).risks)
    world.issues = None
    assert any("know the schema of known-shadow yet" in risk for risk in plan(world).risks)
    world.issues = SchemaError("broken")
    made = plan(world)
    assert made.blockers == ("the schemas of known and known-shadow can't be compared: broken",)
    assert not any("schema" in risk for risk in made.risks)


def test_files_as_a_source_block_it():
    world = World()
    world.sources = (SourcePosition(name="0", kind=SourceKind.FILES),)
    assert "sources that aren't Kafka: source 0" in plan(world).blockers[0]


def test_a_shadow_topic_that_exists_blocks_it_and_another_name_helps():
    world = World()
    world.there = {"known", "known-shadow"}
    assert "topic known-shadow already exists" in plan(world).blockers[0]
    assert plan(world, **{"shadow-topic": "green"}).can_apply


@pytest.mark.parametrize("word", ["stop", "start", "deploy", "rollback"])
def test_each_command_is_needed(word):
    world = World(commands=replace(COMMANDS, **{word: None}))
    assert f"p has no {word} command" in plan(world).blockers[0]
    assert plan(world, deployed=True).can_apply is (word == "deploy")


@pytest.mark.parametrize(
    "wrong", [{"after": "file.json"}, {"tolerance": "-1"}, {"compare-for": -1}]
)
def test_answers_that_mean_nothing(wrong):
    with pytest.raises(ScenarioError, match=f"--{next(iter(wrong))}"):
        plan(World(), **wrong)
