"""What can be spread over other partitions, and what is refused before Spark is asked."""

from __future__ import annotations

import json
import shutil

import pytest

from headgate.errors import RefusedError, ScenarioError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan

STATE = "org.apache.spark.sql.execution.streaming.state."
ROCKSDB, HDFS = STATE + "RocksDBStateStoreProvider", STATE + "HDFSBackedStateStoreProvider"


@pytest.fixture
def query(lab):
    def make(provider=ROCKSDB, *, state=True, begun=False, operator="dedupe"):
        made = lab()
        ck = made.folder / "ck"
        shutil.rmtree(ck)
        conf = {
            "spark.sql.streaming.stateStore.providerClass": provider,
            "spark.sql.shuffle.partitions": "2",
        }
        about = {"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf}
        logged = "\n".join(["v1", json.dumps(about), '{"orders":{"0":7}}'])
        named = "v1\n" + json.dumps({"operatorInfo": {"operatorId": 0, "operatorName": operator}})
        for name, text in {
            "metadata": '{"id":"old"}',
            "offsets/3": logged,
            "commits/3": 'v1\n{"nextBatchWatermarkMs":0}',
            **({"offsets/4": logged} if begun else {}),
            **({"state/0/0/4.zip": "", "state/0/_metadata/metadata": named} if state else {}),
        }.items():
            (ck / name).parent.mkdir(parents=True, exist_ok=True)
            (ck / name).write_text(text)
        return made

    return make


def plan(lab, partitions="5", version=None):
    return build_plan(
        "repartition", "q", lab.applier(), {"partitions": partitions}, version=version
    )


@pytest.mark.parametrize(
    ("operator", "is_named"),
    [
        (StatefulOperator(kind=OperatorKind.TRANSFORM_WITH_STATE), True),
        (
            StatefulOperator(kind=OperatorKind.TRANSFORM_WITH_STATE, extra={"time_mode": "NoTime"}),
            False,
        ),
        (StatefulOperator(kind=OperatorKind.MAP_GROUPS, extra={"timeout": "NoTimeout"}), False),
        (StatefulOperator(kind=OperatorKind.MAP_GROUPS), True),
        (StatefulOperator(kind=OperatorKind.AGGREGATE), False),
    ],
)
def test_what_becomes_of_timers_is_said_where_there_may_be_some(query, operator, is_named):
    version = Version(engine=Engine.SPARK, engine_version="4.2.0", stateful=(operator,))
    assert any("timers of" in r for r in plan(query(), version=version).risks) is is_named


@pytest.mark.parametrize(
    ("operator", "is_said"),
    [
        (
            StatefulOperator(
                kind=OperatorKind.MAP_GROUPS, extra={"timeout": "ProcessingTimeTimeout"}
            ),
            True,
        ),
        (
            StatefulOperator(
                kind=OperatorKind.TRANSFORM_WITH_STATE, extra={"time_mode": "ProcessingTime"}
            ),
            True,
        ),
        (
            StatefulOperator(
                kind=OperatorKind.TRANSFORM_WITH_STATE, extra={"time_mode": "EventTime"}
            ),
            False,
        ),
    ],
)
def test_a_query_that_always_has_a_batch_is_hard_to_stop_between_two(query, operator, is_said):
    version = Version(engine=Engine.SPARK, engine_version="4.2.0", stateful=(operator,))
    found = [r for r in plan(query(), version=version).risks if "a batch at each trigger" in r]
    assert ["`headgate plan repair q`" in risk for risk in found] == [True] * is_said


def test_the_plan_copies_spreads_and_puts_in_place(query):
    made = plan(query())
    assert made.blockers == ()
    assert [s.action for s in made.steps] == [
        "stop_pipeline",
        "snapshot_checkpoint",
        "repartition_state",
        "swap_new_checkpoint",
        "start_pipeline",
    ]
    assert "to 5 partitions (now 2)" in made.steps[2].describe()
    assert load_plan(dump_plan(made), source="p") == made


@pytest.mark.parametrize(
    ("make", "asked", "sentence"),
    [
        ({"provider": HDFS}, {}, "state store provider is HDFSBackedStateStoreProvider"),
        ({"state": False}, {}, "the query has no state"),
        ({"operator": "globalLimit"}, {}, "the state of a query with a limit()"),
        ({}, {"partitions": "2"}, "the state already has 2 partitions"),
        (
            {},
            {"version": Version(engine=Engine.SPARK, engine_version="3.5.6")},
            "the query runs on Spark 3.5.6",
        ),
    ],
)
def test_what_spark_can_t_spread_is_refused_before_anything(query, make, asked, sentence):
    assert any(sentence in one for one in plan(query(**make), **asked).blockers)


def test_a_batch_that_was_begun_refuses_only_a_query_that_is_stopped(query):
    lab = query(begun=True)
    assert plan(lab).blockers == ()
    (lab.folder / "running").unlink()
    assert "batch 4 is uncommitted" in plan(lab).blockers[0]


@pytest.mark.parametrize("wrong", ["0", "-1", "many"])
def test_a_number_that_is_none_is_refused(query, wrong):
    with pytest.raises(ScenarioError, match="--partitions"):
        plan(query(), wrong)


def test_a_batch_that_was_begun_meanwhile_stops_it_and_nothing_was_touched(query):
    lab = query()
    made = plan(lab)
    ck = lab.folder / "ck"
    shutil.copy(ck / "offsets" / "3", ck / "offsets" / "4")
    before = tree_hash(ck)
    with pytest.raises(RefusedError, match=r"batch 4 of .* is uncommitted"):
        lab.execute(lab.enqueue(made), made)
    assert tree_hash(ck) == before
    assert not list(lab.folder.glob(".ck.*"))
