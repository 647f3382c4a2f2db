"""What the plan of a range says of records that fail, and what it refuses."""

from types import SimpleNamespace

import pytest

from headgate.errors import ScenarioError
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, OperatorKind, Sink, StatefulOperator, Version
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.historical_range.failing_records import read_failing_to
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.records.write_dead_letters import WriteDeadLetters
from support.flat_ports import FlatPorts


class Cluster(FlatPorts):
    """A dead letter topic whose records are kept for a day, and a compacted one."""

    may = True

    def topics(self, names):
        part = Partition(number=0, begin=0, end=7)
        there = ("letters", "compacted")
        return {n: Topic(name=n, id="1", partitions=(part,)) for n in names if n in there}

    def shapes(self, names):
        policies = {"letters": "delete", "compacted": "compact"}
        return {
            n: SimpleNamespace(configs={"retention.ms": "86400000", "cleanup.policy": policies[n]})
            for n in names
            if n in policies
        }

    def may_write(self, topics):
        return dict.fromkeys(topics, self.may)


def request(inspector=None, **options):
    pipeline = Pipeline(name="p", engine=Engine.SPARK, entry_point="m:f")
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return PlanRequest(
        scenario="historical-range", pipeline=pipeline, inspector=inspector or Cluster(),
        options={"to": "kafka:results"} | given,
    )  # fmt: skip


def version(*kinds):
    stateful = tuple(StatefulOperator(kind=kind) for kind in kinds)
    return Version(engine=Engine.SPARK, stateful=stateful)


def read(asked, found=None, inputs=(), *, is_stream=False):
    return read_failing_to(asked, found or version(), dict.fromkeys(inputs), is_stream=is_stream)


def test_without_the_option_a_record_stops_the_run():
    found, own = read(request()), OutputEffects(run=("x",))
    assert (found.most, found.steps(request()), found.blockers) == (None, (), ())
    assert found.risks(request(), version()) == []
    assert found.outputs(own) == own


def test_dead_letters_are_written_by_a_step_and_the_plan_says_what_lacks_them():
    asked = request(failing_to="letters", max_failing=7)
    grouped = version(OperatorKind.AGGREGATE)
    found = read(asked, grouped)
    assert found.blockers == ()
    (step,) = found.steps(asked)
    assert isinstance(step, WriteDeadLetters)
    assert (step.pipeline, step.topic) == ("p", "letters")
    assert step.topics == {"letters": {"id": "1", "partitions": 1}}
    assert load_step(step.action, step.details()) == step
    orders = Topic(name="orders", id="2", partitions=())
    (step,) = read_failing_to(asked, grouped, {"orders": orders}, is_stream=False).steps(asked)
    assert isinstance(step, WriteDeadLetters)
    assert step.topics["orders"] == {"id": "2", "partitions": 0}, "the same offsets, other records"
    most, lack, twice, stay, old = found.risks(asked, grouped)
    assert most.startswith("records on which the query fails go to letters.")
    assert most.endswith("If the query fails on more than 7 records, the run stops")
    assert lack.endswith("aggregations and deduplications are computed without them")
    assert twice.startswith("the run reads the range at least twice")
    assert "an undo leaves the dead letters" in stay
    assert "`retention.ms`" in old
    assert found.risks(asked, version())[1].endswith("don't include the failing records")
    assert "An undo leaves the dead letters in letters." in found.outputs(OutputEffects()).undo
    assert read(request(failing_to="letters")).most == 100


def test_limits_of_the_dead_letter_topic_are_named():
    def risks(letters, orders):
        configs = {"letters": letters | {"retention.ms": "-1"}, "orders": orders}

        class Limited(Cluster):
            def shapes(self, names):
                return {n: SimpleNamespace(configs=configs[n]) for n in names if n in configs}

        asked = request(Limited(), failing_to="letters")
        orders_topic = {"orders": Topic(name="orders", id="2", partitions=())}
        found = read_failing_to(asked, version(), orders_topic, is_stream=False)
        return found.risks(asked, version())[4:]

    assert risks({}, {}) == []
    (old,) = risks({"message.timestamp.before.max.ms": "86400000"}, {})
    assert "letters rejects records older than 1 day. An older failing record stops the run" in old
    (large,) = risks({}, {"max.message.bytes": "2000000"})
    assert "letters rejects records of more than 1048588 bytes" in large
    assert large.endswith("Set `max.message.bytes` of letters to 2004096")
    assert risks({"max.message.bytes": "2004096"}, {"max.message.bytes": "2000000"}) == []
    (small,) = risks({"max.message.bytes": "1000"}, {})
    assert small.endswith("Set `max.message.bytes` of letters to 1052684")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_failing": 3}, "--max-failing needs --failing-to"),
        ({"failing_to": "letters", "max_failing": 0}, "expected 1 to 1000, found 0"),
        ({"failing_to": "letters", "max_failing": 1001}, "expected 1 to 1000, found 1001"),
    ],
)
def test_other_forms_are_errors(options, said):
    with pytest.raises(ScenarioError, match=said):
        read(request(**options))


def test_what_cant_be_done_is_a_blocker():
    def blockers(name, *kinds, inspector=None, inputs=(), **more):
        asked = request(inspector, failing_to=name)
        return read(asked, version(*kinds), inputs, **more).blockers

    assert "joins records of two topics" in blockers("letters", OperatorKind.STREAM_JOIN)[0]
    assert "topic none doesn't exist" in blockers("none")[0]
    assert "is compacted" in blockers("compacted")[0]
    assert "is an input of the query" in blockers("letters", inputs=("letters",))[0]
    assert "gets the results" in blockers("results")[0]
    assert "only for --as batch" in blockers("letters", is_stream=True)[0]
    asked = request(failing_to="letters")
    written = Version(engine=Engine.SPARK, sink=Sink(format="kafka", target="letters"))
    assert "is the output topic of the query" in read(asked, written).blockers[0]
    closed = Cluster()
    closed.may = False
    assert "Grant the operation Write" in blockers("letters", inspector=closed)[0]
    closed.may = None
    assert blockers("letters", inspector=closed) == ()
