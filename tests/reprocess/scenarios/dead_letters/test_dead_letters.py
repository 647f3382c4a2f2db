"""Dead letters: what the plan counts, leaves, blocks and warns of, without a broker."""

import time
from dataclasses import replace

import pytest

from headgate.errors import ScenarioError
from headgate.model.cluster import Partition, Topic
from headgate.model.dead_letters import Convention, Decision, Summary
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine, Source, Version
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.records.redrive_records import ledger_of
from headgate.views.words.dead_letters import dead_letter_lines
from support.flat_ports import FlatPorts

NOW = int(time.time() * 1000)
DAY = 86_400_000
FULL = Summary(
    offsets=10,
    read=10,
    decided={Decision.REDRIVE: 6, Decision.GUARDED: 2, Decision.ALREADY: 1, Decision.UNSELECTED: 1},
    reasons={"shop.Bad": 9},
    sources={"orders": 9},
    conventions={Convention.CONNECT: 9},
    attempts={0: 7, 3: 2},
    targets={"orders": 6},
    oldest=NOW - 2 * DAY,
    newest=NOW - DAY,
)


class World(FlatPorts):
    """A cluster with `orders` and its dead letter topic."""

    def __init__(self, summary=FULL, *, engine=Engine.CONSUMER_GROUP, names=("dead", "orders")):
        self.pipeline = Pipeline(
            name="billing", engine=engine, group="billing", checkpoint="/ck",
            commands=Commands(status="check"),
        )  # fmt: skip
        self.summary, self.names = summary, names
        self.readers = {"billing": True}
        self.allowed, self.asked = True, []
        self.retention, self.configs = 7 * DAY, {}
        self.running = Status.RUNS

    def registered(self, name):
        return self.pipeline

    def pipelines(self):
        return (self.pipeline,)

    def place(self, checkpoint):
        return checkpoint

    def status(self, name):
        return self.running

    def cluster_id(self):
        return "c1"

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=5), Partition(number=1, begin=0, end=5))
        return {
            n: Topic(name=n, id=f"id-{n}", partitions=parts, retention_ms=self.retention)
            for n in names
            if n in self.names
        }

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=f"id-{n}", partitions=2, replication=1, configs=self.configs)
            for n in names
            if n in self.names
        }

    def topic_consumers(self, names):
        return dict.fromkeys(names, self.readers)

    def may_write(self, names):
        return dict.fromkeys(names, self.allowed)

    def summarise(self, chosen, ledger, most):
        self.asked.append((chosen, most))
        return self.summary


def plan_of(world, version=None, **options):
    return build_plan(
        "dead-letters", "billing", world, {"topic": "dead", **options}, version=version
    )


def query(**source):
    return Version(engine=Engine.SPARK, sources=(Source(position=0, format="kafka", **source),))


@pytest.mark.parametrize("engine", Engine)
def test_each_engine_gets_one_step_that_is_not_undone(engine):
    plan = plan_of(World(engine=engine))
    assert plan.can_apply, plan.blockers
    (step,) = plan.steps
    assert not step.undoable and plan.outputs.remains
    assert step.describe() == "redrive 6 records of dead to orders, at most 1000 records/s"
    assert plan.impact["records"] == {"orders": 6}
    assert plan.resources == ("topic:dead", "topic:orders")


def test_the_counts_and_the_reasons_are_in_the_impact():
    impact = plan_of(World()).impact
    assert impact["dead_letters"]["at_max_attempts"] == 2
    assert impact["dead_letters"]["already_redriven"] == 1
    assert impact["reasons"] == {"shop.Bad": 9} and impact["attempts"] == {"0": 7, "3": 2}


def test_the_options_become_the_selection():
    world = World()
    plan_of(
        world,
        **{
            "exception": ["Bad"],
            "source-topic": ["orders,clicks"],
            "partitions": ["1,0"],
            "from": "2026-01-01T00:00:00Z",
            "until": "2026-01-02T00:00:00Z",
            "max-attempts": 5,
            "max-records": 7,
            "again": True,
            "count-all": True,
        },
    )
    ((chosen, most),) = world.asked
    assert most is None
    assert (chosen.reasons, chosen.sources) == (("Bad",), ("orders", "clicks"))
    assert (chosen.partitions, chosen.max_attempts, chosen.most) == ((0, 1), 5, 7)
    assert chosen.until - chosen.since == DAY and chosen.again


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rate": 0}, "--rate of dead-letters: expected 1 or more, found 0"),
        ({"max-attempts": -1}, "--max-attempts of dead-letters"),
        ({"partitions": ["x"]}, "--partitions of dead-letters: expected numbers"),
        (
            {"from": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
            "--until of dead-letters: expected a time after --from",
        ),
    ],
)
def test_a_wrong_value_is_named(options, said):
    with pytest.raises(ScenarioError, match=said):
        plan_of(World(), **options)


def summary(**decided):
    kinds = {Decision[k]: n for k, n in decided.items()}
    return Summary(offsets=4, read=sum(kinds.values()), decided=kinds)


@pytest.mark.parametrize(
    ("world", "options", "said"),
    [
        (World(names=("orders",)), {}, "topic dead does not exist: correct --topic"),
        (World(), {"to": "dead"}, "is the dead letter topic itself"),
        (World(), {"to": "retry"}, "create it with --create-topic"),
        (World(), {"partitions": ["7"]}, "topic dead has no partition 7"),
        (World(Summary()), {}, "no records that can be read: nothing to redrive. Check --topic"),
        (World(Summary()), {"partitions": ["0"]}, "Check --topic and --partitions"),
        (World(summary(UNSELECTED=4)), {}, "no record of dead is selected (4 records read)"),
        (
            World(replace(summary(UNSELECTED=4), is_sample=True)),
            {"exception": ["Timeout"]},
            "or --until. To read all records for the plan, pass --count-all",
        ),
        (World(summary(ALREADY=4)), {}, "--again to redrive them once more"),
        (World(summary(GUARDED=4)), {}, "raise --max-attempts"),
        (World(summary(NO_TARGET=4)), {}, "choose a topic with --to"),
        (World(names=("dead",)), {}, "orders: the topic does not exist"),
    ],
)
def test_nothing_to_redrive_is_a_blocker_with_the_next_step(world, options, said):
    plan = plan_of(world, **options)
    assert not plan.can_apply and said in plan.blockers[0]


def test_a_topic_that_may_not_be_written_blocks():
    world = World()
    world.allowed = False
    assert "don't allow Headgate to write to topic orders" in plan_of(world).blockers[0]
    world.allowed = None
    assert plan_of(world).can_apply


def test_a_missing_retry_topic_is_created_and_its_undo_deletes_it():
    retry = Summary(offsets=4, read=4, decided={Decision.REDRIVE: 4}, targets={"retry": 4})
    plan = plan_of(World(retry), to="retry", **{"create-topic": True})
    assert [s.action for s in plan.steps] == ["create_topics", "redrive_records"]
    assert plan.steps[1].new_topic == "retry" and plan.steps[1].undoable
    assert plan.steps[1].targets == {"retry": 2}


def test_a_new_retry_topic_keeps_old_records_and_the_plan_says_so():
    world = World(replace(FULL, targets={"retry": 6}, oldest=NOW - 30 * DAY))
    world.configs = {"retention.ms": str(7 * DAY), "max.message.bytes": "5000000"}
    plan = plan_of(world, to="retry", **{"create-topic": True})
    configs = plan.steps[0].topics["retry"]["configs"]
    assert (configs["retention.ms"], configs["retention.bytes"]) == ("-1", "-1")
    assert (configs["cleanup.policy"], configs["max.message.bytes"]) == ("delete", "5000000")
    assert plan.steps[0].describe() == "create 1 topic: retry (retention.ms=-1)"
    assert any("retry is created with retention.ms=-1" in risk for risk in plan.risks)


def test_topics_that_kafka_would_not_create_are_blockers():
    world = World(replace(FULL, targets={"retry": 6}))
    world.uncreatable = lambda shapes: {s.name: f"not {s.name}" for s in shapes}
    plan = plan_of(world, to="retry", **{"create-topic": True})
    assert plan.blockers == ("not retry", f"not {ledger_of('dead', 'id-dead').topic}")


def test_an_internal_topic_is_left():
    name = "app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition"
    found = Summary(
        offsets=9, read=9, decided={Decision.REDRIVE: 9}, targets={"orders": 5, name: 4}
    )
    plan = plan_of(World(found, names=("dead", "orders", name)))
    assert plan.impact["records"] == {"orders": 5}
    assert plan.impact["dead_letters"]["without_target"] == 4
    assert any("the topic is internal to Kafka Streams" in risk for risk in plan.risks)


def test_a_sample_says_so_and_estimates():
    found = Summary(
        offsets=1000, read=100, is_sample=True, decided={Decision.REDRIVE: 50},
        targets={"orders": 50},
    )  # fmt: skip
    plan = plan_of(World(found))
    assert plan.impact["records"] == {"orders": 500} and plan.impact["total"] == 500
    assert any("counts come from a sample of 100 records" in risk for risk in plan.risks)
    assert plan_of(World(found), **{"max-records": 30}).impact["records"] == {"orders": 30}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"readers": {"billing": True, "audit": False}}, "orders is also read by audit"),
        ({"readers": {}}, "group billing doesn't read orders, so billing doesn't process"),
        ({"running": Status.STOPPED}, "billing is stopped"),
        ({"retention": DAY}, "dead keeps records for 1 day. At any time, Kafka may"),
        (
            {"summary": replace(FULL, written={"orders": NOW - 30 * DAY})},
            "the oldest redriven record is from 30 days ago, and orders keeps records for 7 days",
        ),
        ({"summary": replace(FULL, arrived=3)}, "3 records arrived in dead"),
        ({"summary": replace(FULL, newest=NOW)}, "Check that the cause is fixed"),
        ({}, "without success and will not be redriven"),
    ],
)
def test_risks(change, said):
    world = World()
    for name, value in change.items():
        setattr(world, name, value)
    risks = plan_of(world).risks
    assert any(said in risk for risk in risks), risks
    if change:
        assert not any(said in risk for risk in plan_of(World()).risks)


RETRY = replace(FULL, targets={"retry": 6})
ALL = ("dead", "orders", "retry")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (query(topics=("orders",)), "billing doesn't read retry, so it doesn't process"),
        (query(pattern="^ord"), "Headgate doesn't know whether billing reads retry"),
        (None, "Headgate doesn't know whether billing reads retry"),
        (query(topics=("orders", "retry")), None),
        (query(pattern="etry$"), None),
    ],
)
def test_a_retry_topic_that_the_query_does_not_read_is_a_risk(version, said):
    plan = plan_of(World(RETRY, engine=Engine.SPARK, names=ALL), version, to="retry")
    found = [r for r in plan.risks if "doesn't" in r]
    assert (said is None and not found) or any(said in r for r in found), plan.risks
    assert not any("group billing" in r for r in plan.risks)


def test_a_topic_that_the_query_does_not_read_is_a_risk_without_to_as_well():
    world = World(engine=Engine.SPARK)
    assert any(
        "billing doesn't read orders" in r for r in plan_of(world, query(topics=("x",))).risks
    )
    assert not any("doesn't" in r for r in plan_of(world, query(topics=("orders",))).risks)
    assert not any("doesn't" in r for r in plan_of(world).risks)


@pytest.mark.parametrize("engine", Engine)
def test_a_new_retry_topic_must_become_an_input(engine):
    plan = plan_of(World(RETRY, engine=engine), to="retry", **{"create-topic": True})
    assert any("only if it reads retry. Add retry to the input of billing" in r for r in plan.risks)


def test_a_missing_retry_topic_is_not_where_records_failed():
    plan = plan_of(World(RETRY), to="retry")
    assert not any("failed in" in risk for risk in plan.risks)
    assert dict(dead_letter_lines(plan.impact))["Redrive"] == "0 records"


def test_headers_with_an_empty_reason_are_known_headers():
    some = replace(FULL, reasons={"unknown": 9})
    assert not any("known dead letter header" in r for r in plan_of(World(some)).risks)
    some = replace(FULL, conventions={Convention.CONNECT: 8, Convention.NONE: 1})
    assert any("no known dead letter header in 1 record" in r for r in plan_of(World(some)).risks)


def test_only_the_selected_partitions_were_read():
    def said(summary, *partitions):
        impact = plan_of(World(summary), partitions=partitions).impact
        return dict(dead_letter_lines(impact))["Dead letters"].partition(":")[0]

    assert said(FULL) == "10 records read (the whole topic)"
    assert said(FULL, "1") == "10 records read (partition 1)"
    sample = replace(FULL, is_sample=True, offsets=1_000)
    sampled = said(sample, "0", "1")
    assert sampled == "10 of up to 1\u202f000 records read (a sample of partitions 0, 1)"
    risks = plan_of(World(sample), partitions=["0"]).risks
    assert any("These partitions have up to 1000 records" in risk for risk in risks)
