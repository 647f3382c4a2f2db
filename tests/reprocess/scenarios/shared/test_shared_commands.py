"""A stop command that several pipelines have: all plans say whom it stops, and one run uses it."""

from dataclasses import replace

import pytest

from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.commands import Ask, HttpCall, Request, Shell, WatchControl
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import changed
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from support.flat_ports import FlatPorts

LOCK = "the shared stop command of:q, twin"


class World(FlatPorts):
    """Groups of one program, with such commands."""

    def __init__(self, **commands):
        self.all = {
            name: Pipeline(name=name, engine=Engine.CONSUMER_GROUP, group=name, commands=one)
            for name, one in commands.items()
        }

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c"

    def pipelines(self):
        return tuple(self.all.values())

    def registered(self, name):
        return self.all.get(name)

    def status(self, name):
        return Status.STOPPED

    def topics(self, names):
        part = Partition(number=0, begin=0, end=10)
        return {n: Topic(name=n, id="t", partitions=(part,)) for n in names}

    def group(self, group_id):
        offsets = (GroupOffset(topic="t", partition=0, offset=5),)
        return Group(
            id=group_id, type=GroupType.CONSUMER, state="empty", members=(), offsets=offsets
        )


def plan_of(world):
    return build_plan("from-point", "q", world, {"to_earliest": True})


def shell(line, call=None):
    return Commands(stop=line, start="up", calls={"stop": call} if call else {})


def test_a_plan_and_its_undo_say_whom_they_also_stop():
    world = World(q=shell("halt p"), twin=shell("halt p"), other=shell("halt o"))
    plan = plan_of(world)
    (risk,) = [r for r in plan.risks if "stop command" in r]
    assert risk.startswith("twin has the same stop command as q, so the run also stops twin.")
    assert plan.resources == ("group:q", LOCK) and changed(plan.resources) == ("group:q",)
    assert build_plan("from-point", "twin", world, {"to_earliest": True}).resources[-1] == LOCK

    records = {0: Record(state=StepState.DONE, begun=True, was={"running": True})}
    undo = build_undo(Past(run="r", plan=plan, records=records), world)
    assert risk not in undo.risks, "it only starts q"
    again = build_undo(Past(run="r", plan=plan, records=dict.fromkeys((0, 3), records[0])), world)
    assert risk in again.risks and again.resources == plan.resources


@pytest.mark.parametrize(
    "commands",
    [
        shell("halt p", Ask(text="halt p")),
        shell("headgate.watch (stop request)", WatchControl()),
        shell('halt "$HEADGATE_PIPELINE"'),
        shell("x", HttpCall(request=Request(method="POST", url="http://h/${HEADGATE_PIPELINE}"))),
        shell(None),
    ],
)
def test_what_may_stop_each_pipeline_alone_is_not_shared(commands):
    plan = plan_of(World(q=commands, twin=commands))
    assert plan.resources == ("group:q",)
    assert not any("stop command" in risk for risk in plan.risks)


def test_only_a_spark_query_reprocesses_an_interrupted_batch():
    world = World(q=shell("halt"), twin=shell("halt"), third=shell("halt"))
    (risk,) = [r for r in plan_of(world).risks if "stop command" in r]
    assert "batch" not in risk
    assert risk.endswith('add "$HEADGATE_PIPELINE" to the command in headgate.toml')
    world.all["third"] = replace(world.all["third"], engine=Engine.SPARK, group=None)
    (risk,) = [r for r in plan_of(world).risks if "stop command" in r]
    assert "Spark reprocesses an interrupted batch of third. After the run" in risk


def test_commands_with_other_secrets_are_not_the_same():
    one, other = (shell("halt ***", Shell(command=c, shown="halt ***")) for c in "ab")
    assert plan_of(World(q=one, twin=one)).resources[-1] == LOCK
    assert plan_of(World(q=one, twin=other)).resources == ("group:q",)
