"""A topic that is deleted and recreated between the plan and its run makes the plan stale."""

import json
from dataclasses import replace

import pytest

from headgate.errors import UnreachableError
from headgate.gateway.adapters.checkpoints import CheckpointAdapter
from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
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


def test_a_pause_needs_no_broker(query, ids):
    ids.down = True
    assert plan(query, "pause", {}).can_apply
