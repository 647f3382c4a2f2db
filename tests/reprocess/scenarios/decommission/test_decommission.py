"""What an application left goes, by exact ownership; an undo brings it back."""

from dataclasses import replace

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic

from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine, Source, Version
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.offsets.partition_offsets import committed
from support.waiting import until

STATUS = "[ -e running ] && exit 0 || exit 3"


def undo(here, run, plan):
    made = here.undo(run, plan)
    assert made.can_apply, made.blockers
    here.execute(here.enqueue(made, undo_of=run), made, undo_of=run)
    return made


def commit(broker, group, *offsets):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.commit(offsets=list(offsets), asynchronous=False)
    consumer.close()


def values(messages):
    return [(m.partition(), m.key(), m.value(), m.timestamp()) for m in messages]


@pytest.fixture
def application(lab, broker, kafka_admin, topic, produce, unique):
    """An application with a changelog that is proven, one of a neighbour, and a committed input."""
    here, app = lab(), unique("app")
    orders = topic("orders", partitions=2)
    mine = make(kafka_admin, f"{app}-store-changelog", {"cleanup.policy": "compact"})
    other = make(kafka_admin, f"{app}-v2-store-changelog", {})
    produce(mine, [("a", "1"), ("b", "2"), ("a", None)])
    commit(broker, app, TopicPartition(orders, 0, 0), TopicPartition(orders, 1, 0, metadata="m"))
    pipelines = (
        Pipeline(name="q", engine=Engine.KAFKA_STREAMS, group=app, topics=(mine,)),
        Pipeline(name="v2", engine=Engine.KAFKA_STREAMS, group=f"{app}-v2", topics=(other,)),
    )
    here.registry = Registry(path=here.registry.path, bootstrap_servers=broker, pipelines=pipelines)
    return here, app, mine, other, orders


def make(admin, name, config):
    new = NewTopic(name, num_partitions=1, replication_factor=1, config=config)
    admin.create_topics([new])[name].result()
    until(lambda: name in admin.list_topics(timeout=10).topics, f"the broker never told of {name}")
    return name


@pytest.mark.long
@pytest.mark.kafka
def test_an_application_goes_and_comes_back_and_its_neighbour_stays(application, consume):
    here, app, mine, other, orders = application
    before, records = committed(here.applier(), app), values(consume(mine, 3))
    plan = build_plan("decommission", "q", here.applier(), {"back-up": True})
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "await_transactions",
        "record_offsets",
        "back_up_records",
        "delete_topics",
        "clear_local_state",
        "delete_group",
    ]
    assert list(plan.impact["internal_topics"]) == [mine]
    assert {other, orders} <= plan.impact["left_alone"].keys()
    assert plan.impact["subjects"] == []
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert set(here.applier().kafka.shapes([mine, other, orders])) == {other, orders}
    assert here.applier().kafka.group(app).state == "dead"

    undo(here, run, plan)
    assert committed(here.applier(), app) == before
    assert values(consume(mine, 3)) == records
    assert here.applier().kafka.shapes([mine])[mine].configs == {"cleanup.policy": "compact"}


@pytest.mark.kafka
def test_without_a_backup_the_loss_is_named(application):
    here, _, mine, _, _ = application
    plan = build_plan("decommission", "q", here.applier())
    assert any(f"the records of {mine} are permanently lost" in risk for risk in plan.risks)
    run = here.enqueue(plan)
    here.execute(run, plan)
    made = undo(here, run, plan)
    assert any("are not restored: none were backed up" in risk for risk in made.risks)
    assert here.applier().kafka.topics([mine])[mine].records == 0


@pytest.mark.kafka
def test_an_application_whose_offsets_expired_goes_if_its_status_says_stopped(
    application, kafka_admin, consume
):
    here, app, mine, other, _ = application
    kafka_admin.delete_consumer_groups([app])[app].result()
    (reason,) = build_plan("decommission", "q", here.applier()).blockers
    assert reason == (
        f"group {app} not found, so Headgate can't verify that q is stopped. Register a status "
        "command"
    )
    told = replace(here.registry.pipelines[0], commands=Commands(status=STATUS))
    here.registry = replace(here.registry, pipelines=(told, here.registry.pipelines[1]))
    (here.folder / "running").unlink()
    plan = build_plan("decommission", "q", here.applier(), {"back-up": True})
    assert plan.can_apply, plan.blockers
    assert not {"record_offsets", "delete_group"} & {s.action for s in plan.steps}
    records = values(consume(mine, 3))
    assert [value for _, _, value, _ in records] == [b"1", b"2", None]
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert set(here.applier().kafka.shapes([mine, other])) == {other}
    undo(here, run, plan)
    assert values(consume(mine, 3)) == records


@pytest.mark.kafka
def test_an_application_that_left_nothing_is_not_found_once(application, unique):
    here, *_ = application
    typo = replace(here.registry.pipelines[0], group=unique("no-such-app"), topics=())
    here.registry = replace(here.registry, pipelines=(typo,))
    (reason,) = build_plan("decommission", "q", here.applier()).blockers
    assert "not found: no application has this id" in reason


@pytest.mark.kafka
def test_what_nobody_is_proven_to_own_is_not_deleted(application):
    here, _, mine, other, _ = application
    unlisted = replace(here.registry.pipelines[0], topics=())
    here.registry = replace(here.registry, pipelines=(unlisted, here.registry.pipelines[1]))
    plan = build_plan("decommission", "q", here.applier())
    assert any(f"no evidence that {mine} belongs" in blocker for blocker in plan.blockers)
    named = build_plan("decommission", "q", here.applier(), {"internal-topics": [other]})
    assert any(f"{other} doesn't belong" in blocker for blocker in named.blockers)


@pytest.mark.kafka
def test_a_group_goes_with_its_offsets_and_comes_back(lab, broker, topic, unique):
    here, orders, group = lab(), topic("orders"), unique("billing")
    commit(broker, group, TopicPartition(orders, 0, 0, metadata="by hand"))
    pipeline = Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group=group)
    here.registry = Registry(
        path=here.registry.path, bootstrap_servers=broker, pipelines=(pipeline,)
    )
    before = committed(here.applier(), group)
    plan = build_plan("decommission", "q", here.applier())
    assert plan.can_apply, plan.blockers
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert committed(here.applier(), group) == {}
    undo(here, run, plan)
    assert committed(here.applier(), group) == before

    twin = replace(pipeline, name="twin")
    here.registry = replace(here.registry, pipelines=(pipeline, twin))
    shared = build_plan("decommission", "q", here.applier())
    assert shared.blockers == (
        f"twin and q are registered with the same group {group}, so Headgate doesn't delete the "
        "group: remove one of the two pipelines from headgate.toml",
    )


@pytest.mark.kafka
def test_a_group_that_runs_is_not_decommissioned(lab, broker, topic, unique):
    here, orders, group = lab(), topic("orders"), unique("billing")
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.subscribe([orders])
    while not consumer.assignment():
        consumer.poll(0.2)
    commands = Commands(stop="true", status=STATUS)
    pipeline = Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group=group, commands=commands)
    here.registry = Registry(
        path=here.registry.path, bootstrap_servers=broker, pipelines=(pipeline,)
    )
    plan = build_plan("decommission", "q", here.applier())
    assert any("Stop all members first" in blocker for blocker in plan.blockers)
    assert any("q runs: stop the pipeline first" in blocker for blocker in plan.blockers)
    consumer.close()


def test_a_checkpoint_is_set_aside_and_put_back_byte_for_byte(lab):
    here = lab()
    (why, *_) = build_plan("decommission", "q", here.applier()).blockers
    assert "q runs: stop the pipeline first" in why
    (here.folder / "running").unlink()
    old = tree_hash(here.folder / "ck")
    plan = build_plan("decommission", "q", here.applier())
    assert plan.can_apply, plan.blockers
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert not (here.folder / "ck").exists()
    assert tree_hash(here.folder / f".ck.aside-{run}") == old
    undo(here, run, plan)
    assert tree_hash(here.folder / "ck") == old and not list(here.folder.glob(".ck.*"))


def test_a_group_without_a_cluster_blocks_the_plan_and_not_the_run(lab):
    here = lab()
    (here.folder / "running").unlink()
    mine = replace(here.registry.pipelines[0], group="own")
    here.registry = replace(here.registry, pipelines=(mine,))
    (said,) = build_plan("decommission", "q", here.applier()).blockers
    assert said.startswith("no Kafka cluster is configured, so Headgate can't check group own")


@pytest.mark.parametrize("scenario", ["pause", "from-scratch"])
def test_no_scenario_stops_a_group_without_a_cluster(lab, scenario):
    here = lab()
    mine = replace(here.registry.pipelines[0], group="own")
    here.registry = replace(here.registry, pipelines=(mine,))
    plan = build_plan(scenario, "q", here.applier())
    assert any("can't check group own" in reason for reason in plan.blockers), plan.blockers


def test_a_shared_checkpoint_stays(lab):
    here = lab()
    (here.folder / "running").unlink()
    twin = replace(here.registry.pipelines[0], name="twin")
    here.registry = replace(here.registry, pipelines=(*here.registry.pipelines, twin))
    plan = build_plan("decommission", "q", here.applier())
    assert any("twin and q are registered with the same checkpoint" in r for r in plan.blockers)


@pytest.mark.kafka
def test_the_group_that_is_a_querys_own_goes_with_its_checkpoint(lab, broker, topic, unique):
    here, orders, group = lab(), topic("orders", partitions=2), unique("query")
    (here.folder / "running").unlink()
    old = tree_hash(here.folder / "ck")
    commit(broker, group, TopicPartition(orders, 0, 3), TopicPartition(orders, 1, 4, metadata="m"))
    mine = replace(here.registry.pipelines[0], group=group)
    here.registry = replace(here.registry, bootstrap_servers=broker, pipelines=(mine,))
    before = committed(here.applier(), group)
    plan = build_plan("decommission", "q", here.applier())
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "record_offsets",
        "delete_group",
        "move_to_backup",
    ]
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert here.applier().kafka.group(group).state == "dead"
    assert not (here.folder / "ck").exists()
    undo(here, run, plan)
    assert committed(here.applier(), group) == before
    assert tree_hash(here.folder / "ck") == old

    # One that another pipeline has, too, is nobody's own.
    theirs = Pipeline(name="other", engine=Engine.CONSUMER_GROUP, group=group)
    here.registry = replace(here.registry, pipelines=(mine, theirs))
    refused = build_plan("decommission", "q", here.applier())
    assert any("are registered with the same group" in r for r in refused.blockers)


def test_a_group_that_only_the_querys_sources_name_stays(lab):
    here = lab()
    (here.folder / "running").unlink()
    source = Source(position=0, format="kafka", options={"kafka.group.id": "ours"})
    version = Version(engine=Engine.SPARK, sources=(source,))
    plan = build_plan("decommission", "q", here.applier(), version=version)
    assert [s.action for s in plan.steps] == ["stop_pipeline", "move_to_backup"]
    assert any("sources use group ours (kafka.group.id)" in risk for risk in plan.risks)
    two = replace(version, sources=(source, Source(position=1, options={"kafka.group.id": "b"})))
    plan = build_plan("decommission", "q", here.applier(), version=two)
    said = next(risk for risk in plan.risks if "kafka.group.id" in risk)
    assert "sources use the groups b, ours (" in said and said.endswith(
        "Headgate keeps these groups"
    )
