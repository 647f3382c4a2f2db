"""What becomes of outputs when a pipeline begins from scratch: kept, emptied, new ones."""

from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Sink, Source, Version
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.shared.output_topics import local
from headgate.reprocess.steps.offsets.partition_offsets import committed


def undo(here, run, plan):
    made = here.undo(run, plan)
    assert made.can_apply, made.blockers
    here.execute(here.enqueue(made, undo_of=run), made, undo_of=run)
    return made


def commit(broker, group, *offsets):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.commit(offsets=list(offsets), asynchronous=False)
    consumer.close()


@pytest.fixture
def billing(lab, broker, topic, produce, unique):
    """A group that read ten orders and wrote ten bills, which an audit has read four of."""
    here, group, audit = lab(), unique("billing"), unique("audit")
    orders, bills = topic("orders"), topic("bills", config={"retention.ms": "-1"})
    produce(orders, [(f"k{n}", f"order-{n}") for n in range(10)])
    produce(bills, [(f"k{n}", f"bill-{n}") for n in range(10)])
    commit(broker, group, TopicPartition(orders, 0, 10))
    commit(broker, audit, TopicPartition(bills, 0, 4))
    pipeline = Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group=group)
    here.registry = Registry(
        path=here.registry.path, bootstrap_servers=broker, pipelines=(pipeline,)
    )
    return here, group, orders, bills, audit


def plan_of(here, version=None, **options):
    options = {name.replace("_", "-"): value for name, value in options.items()}
    return build_plan("from-scratch", "q", here.applier(), options, version=version)


@pytest.mark.kafka
def test_emptied_and_backed_up_outputs_come_back_in_place_of_what_was_written_since(
    billing, consume, produce
):
    here, group, orders, bills, audit = billing
    before = [(m.key(), m.value(), m.timestamp()) for m in consume(bills, 10)]
    at = committed(here.applier(), group)
    plan = plan_of(here, outputs="empty", output_topics=bills, back_up_outputs=True)
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "record_offsets",
        "reset_offsets",
        "back_up_records",
        "delete_records",
    ]
    assert plan.impact["outputs"] == {bills: 10}
    assert any(f"Its consumers {audit} lose the old records" in risk for risk in plan.risks)
    assert plan.steps[3].sizes[bills]["bytes"] > 0
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert here.applier().kafka.topics([bills])[bills].records == 0
    assert committed(here.applier(), group)[orders, 0].offset == 0

    produce(bills, ["new-1", "new-2"])
    made = undo(here, run, plan)
    assert f"the undo deletes up to 2 records of {bills} written after the run" in made.risks
    assert [(m.key(), m.value(), m.timestamp()) for m in consume(bills, 10)] == before
    assert here.applier().kafka.topics([bills])[bills].records == 10
    assert committed(here.applier(), group) == at
    assert here.applier().kafka.shapes([bills])[bills].configs == {"retention.ms": "-1"}


@pytest.mark.kafka
def test_outputs_that_nothing_backs_up_are_gone_and_the_plan_says_so(billing):
    here, _, _, bills, _ = billing
    plan = plan_of(here, outputs="empty", output_topics=bills)
    assert not plan.steps[-1].undoable
    assert any("permanently lost" in risk for risk in plan.risks)


@pytest.mark.kafka
def test_new_outputs_are_like_the_old_ones_and_a_person_starts(billing):
    here, _, _, bills, _ = billing
    plan = plan_of(here, outputs="new", output_topics=bills, new_suffix="-2")
    assert [s.action for s in plan.steps][-2:] == ["create_topics", "manual_step"]
    assert f"{bills}-2 in place of {bills}" in plan.steps[-1].describe()
    run = here.enqueue(plan)
    here.execute(run, plan)
    shapes = here.applier().kafka.shapes([bills, f"{bills}-2"])
    assert shapes[f"{bills}-2"].configs == shapes[bills].configs
    assert here.applier().kafka.topics([bills])[bills].records == 10
    again = plan_of(here, outputs="new", output_topics=bills, new_suffix="-2")
    assert any(f"topic {bills}-2 already exists" in reason for reason in again.blockers)
    undo(here, run, plan)
    assert len(here.applier().kafka.shapes([bills, f"{bills}-2"])) == 2


@pytest.mark.kafka
def test_what_must_not_be_emptied_is_refused(billing, topic):
    here, _, orders, _, _ = billing
    table = topic("table", config={"cleanup.policy": "compact"})
    refused = {
        None: "are unknown: pass its output topics",
        orders: f"{orders} is both an input and an output of q",
        table: f"{table} has cleanup.policy=compact",
        "nowhere": "the output topic nowhere does not exist. Check its name",
    }
    for name, reason in refused.items():
        given = {"output_topics": name} if name else {}
        plan = plan_of(here, outputs="empty", **given)
        assert any(reason in blocker for blocker in plan.blockers), plan.blockers


@pytest.mark.kafka
def test_by_default_outputs_stay_and_their_readers_are_named(billing):
    here, _, _, bills, audit = billing
    plan = plan_of(here, output_topics=bills)
    assert [s.action for s in plan.steps][-1] == "reset_offsets"
    assert f"{bills} is read by {audit}: these consumers get duplicates" in plan.risks


def written(here, engine_format="parquet"):
    """A version of the lab's query whose sink is a folder with some files."""
    out = here.folder / "out"
    (out / "_spark_metadata").mkdir(parents=True)
    (out / "_spark_metadata" / "4").write_text("v1")
    (out / "part-0.parquet").write_bytes(b"rows")
    source = Source(position=0, format="kafka", options={"startingOffsets": "earliest"})
    sink = Sink(format=engine_format, target=f"file:{out}")
    return out, Version(engine=Engine.SPARK, sources=(source,), sink=sink)


def test_a_folder_of_files_is_set_aside_and_put_back(lab):
    here = lab()
    out, version = written(here)
    old = tree_hash(out)
    assert any("silently dropped" in r for r in plan_of(here, version).blockers)
    plan = plan_of(here, version, outputs="empty")
    assert plan.can_apply, plan.blockers
    said = " ".join(plan.outputs.undo)
    assert "to a backup folder" in said and not plan.outputs.remains
    assert "deleted records" not in said and "are written a second time" not in said
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert not out.exists() and (here.folder / "running").exists()
    out.mkdir()
    (out / "part-1.parquet").write_bytes(b"new rows")
    undo(here, run, plan)
    assert tree_hash(out) == old
    assert [p.name for p in here.folder.glob(".out.since-*/*")] == ["part-1.parquet"]


def test_a_remote_folder_is_refused_and_another_folder_asks_a_person(lab):
    here = lab()
    _, version = written(here)
    remote = replace(version, sink=replace(version.sink, target="s3a://bucket/out"))
    (reason,) = plan_of(here, remote, outputs="empty").blockers
    assert "s3a://bucket/out isn't on a local file system" in reason
    new = plan_of(here, version, outputs="new")
    asked = new.steps[-2].describe()
    assert "a folder other than" in asked and "no start command" not in asked
    assert not any("second time" in risk for risk in new.risks), new.risks
    kept = plan_of(here, replace(version, sink=Sink(format="kafka", target="t")), outputs="keep")
    assert any("writes its results to t a second time" in risk for risk in kept.risks)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file:///a/b%20c", "/a/b c"),
        ("s3a://b/c", None),
        ("out", None),
    ],
)
def test_where_a_folder_is(given, path):
    assert local(given) == path


def test_topics_that_the_stored_version_does_not_write_are_refused(lab):
    here = lab()
    sink = Sink(format="kafka", target="bills")
    version = Version(engine=Engine.SPARK, sink=sink)
    options = {"outputs": "empty", "output_topics": ["bills,orders"]}
    plan = build_plan("from-scratch", "q", here.applier(), options, version=version)
    (reason,) = [r for r in plan.blockers if "doesn't write" in r]
    assert "q doesn't write to orders. The stored version writes to bills" in reason


def test_a_query_that_is_told_to_write_elsewhere_is_looked_at(lab):
    version = Version(engine=Engine.SPARK, sink=Sink(format="parquet", target="/out"))
    plan = build_plan("from-scratch", "q", lab().applier(), {"outputs": "new"}, version=version)
    look: Any = plan.steps[-1]
    assert (look.action, look.new, look.old) == ("verify_output", (), ("/out",))
