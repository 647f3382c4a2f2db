"""A topic that is deleted and recreated between the plan and its run makes the plan stale."""

import json
from dataclasses import replace

import pytest

from headgate.errors import RefusedError, StalePlanError, UnreachableError
from headgate.gateway.adapters.checkpoints import CheckpointAdapter
from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.execution.relied_topics import relied_topics
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.reprocess.steps.topics.delete_topics import DeleteTopics
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.worker.run_journal import RunJournal
from support.crashing import COMMANDS

pytestmark = pytest.mark.slow

PARTS = (Partition(number=0, begin=0, end=30),)
PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Ids(dict):
    """The topics' ids; `down`: no broker responds."""

    down = False


@pytest.fixture
def ids(monkeypatch):
    """The topics of the cluster, by name, with the ids that they have now."""
    known = Ids(orders="O", refunds="R")

    def identities(_, names):
        if known.down:
            raise UnreachableError("no broker responds")
        return {n: (known[n], 1) for n in names if n in known}

    def topics(_, names):
        return {n: Topic(name=n, id=known[n], partitions=PARTS) for n in names if n in known}

    for name, answer in {
        "has_cluster": lambda _: True,
        "cluster_id": lambda _: "C",
        "identities": identities,
        "topics": topics,
        "topics_in_transaction": lambda _, names: (),
        "shapes": lambda _, names: {
            n: TopicShape(name=n, id=known[n], partitions=1, replication=1) for n in names
        },
    }.items():
        monkeypatch.setattr(KafkaAdapter, name, answer)
    return known


@pytest.fixture
def query(lab, ids, monkeypatch):
    """A stopped query that has read 7 records of `orders` and 3 of `refunds`."""
    made = lab()
    ck = made.folder / "ck"
    conf = {
        "spark.sql.streaming.stateStore.providerClass": PROVIDER,
        "spark.sql.shuffle.partitions": "2",
    }
    about = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf})
    for batch, end in ((3, 5), (4, 7)):
        logged = ["v1", about, json.dumps({"orders": {"0": end}, "refunds": {"0": 3}})]
        (ck / "offsets" / str(batch)).write_text("\n".join(logged))
        (ck / "commits" / str(batch)).write_text("v1\n{}")
    named = {"operatorInfo": {"operatorId": 0, "operatorName": "dedupe"}}
    (ck / "state" / "0" / "_metadata").mkdir(parents=True)
    (ck / "state" / "0" / "_metadata" / "metadata").write_text("v1\n" + json.dumps(named))
    commands = replace(COMMANDS, deploy="true", rollback="true")
    (pipeline,) = made.registry.pipelines
    made.registry = Registry(
        path=made.registry.path,
        bootstrap_servers="nowhere:1",
        pipelines=(replace(pipeline, entry_point="m:f", commands=commands),),
    )
    assert set(CheckpointAdapter.read(made.applier().checkpoints, str(ck)).offsets) == {
        "orders",
        "refunds",
    }
    return made


def plan(made, scenario, options):
    applier = made.applier()
    if scenario == "offline-upgrade":
        case = made.cases / "agg_map_add"
        options = {"before": str(case / "before"), "after": str(case / "after"), "fail-on": "none"}
        alone = replace(made.registry, bootstrap_servers=None)
        applier = with_judge(applier, Context(alone, "sqlite://", made.home))
    return build_plan(scenario, "q", applier, options)


@pytest.mark.parametrize(
    ("scenario", "options"),
    [
        ("pause", {}),
        ("pause", {"resume": True}),
        ("bounded", {}),
        ("repartition", {"partitions": "5"}),
        ("offline-upgrade", {}),
        # The query reads another topic, too.
        ("skip-records", {"records": "orders:0:7", "sink": "kafka"}),
    ],
)
def test_a_topic_that_is_recreated_before_the_run_makes_the_plan_stale(
    query, ids, scenario, options, request
):
    query.cases = request.config.rootpath / "tests" / "cases" / "spark"
    before = plan(query, scenario, options)
    assert before.steps, before.blockers
    assert not drift(before, plan(query, scenario, options))
    ids["refunds"] = "R2"
    assert drift(before, plan(query, scenario, options)) == ("topics: refunds id was R, is now R2",)


@pytest.fixture
def steps(query):
    """A plan of several steps, the position of its start, and what carries out one of them."""
    made = plan(query, "from-scratch", {})
    run = query.enqueue(made)
    journal = RunJournal(query.store, run, made, undo_of=None)

    def apply(position):
        topics = relied_topics(made, position)
        Executor(query.applier(run), journal, topics).apply(position, made.steps[position])

    actions = [step.action for step in made.steps]
    return made, actions.index("start_pipeline"), apply


def test_a_topic_that_is_recreated_during_the_run_ends_it_before_the_next_step(steps, ids, query):
    _, start, apply = steps
    for position in range(start):
        apply(position)
    ids["refunds"] = "R2"
    with pytest.raises(StalePlanError, match="topic refunds was deleted and recreated since"):
        apply(start)
    assert not (query.folder / "running").exists()
    del ids["refunds"]
    with pytest.raises(RefusedError, match="topic refunds no longer exists"):
        apply(start)
    ids["refunds"] = "R"
    apply(start)
    assert (query.folder / "running").exists()


def test_a_started_step_is_compared_again_on_a_resume_unless_it_is_done(steps, ids, query):
    made, start, apply = steps
    for position in range(start):
        apply(position)
    journal = RunJournal(query.store, query.store.runs.list()[0].id, made, undo_of=None)
    journal.begin(start, made.steps[start].bind(query.applier("preview")))
    ids["refunds"] = "R2"
    with pytest.raises(StalePlanError, match="topic refunds was deleted and recreated since"):
        apply(start)


def test_partitions_may_be_added_and_a_broker_may_be_away(steps, ids):
    made, start, apply = steps
    made.preconditions["topics"]["refunds"]["partitions"] = 9
    for position in range(start):
        apply(position)
    ids.down = True
    apply(start)


def test_what_follows_the_last_start_and_an_undo_rely_on_no_topic(steps):
    made, start, _ = steps
    assert set(relied_topics(made, start)) == {"orders", "refunds"}
    assert relied_topics(made, start + 1) == {}
    assert relied_topics(replace(made, scenario="undo"), 0) == {}
    assert relied_topics(replace(made, steps=made.steps[:start]), 0) == {}
    gone = DeleteTopics(topics={"orders": {}})
    assert set(relied_topics(replace(made, steps=(*made.steps, gone)), 0)) == {"refunds"}


def test_a_pause_needs_no_broker(query, ids):
    ids.down = True
    assert plan(query, "pause", {}).can_apply
