"""An undo on another Kafka cluster is blocked, if the run's plan says which cluster it was on."""

import pytest

from headgate.model.cluster import Group
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import Plan
from headgate.reprocess.steps.offsets.delete_group import DeleteGroup
from support.flat_ports import FlatPorts

OFFSET = {"topic": "orders", "partition": 0, "offset": 5, "leader_epoch": None, "metadata": None}
WAS = {"offsets": [OFFSET], "topics": {"orders": "1"}}


class World(FlatPorts):
    """A cluster without the group that the run deleted."""

    def cluster_id(self):
        return "now"

    def group(self, name):
        return Group(id=name, state="dead", members=())

    def topics(self, _names):
        return {}

    def registered(self, _pipeline):
        return None

    def pipelines(self):
        return ()


def blockers(**facts):
    step = DeleteGroup(group="g", group_type="classic")
    plan = Plan(scenario="decommission", pipeline=None, steps=(step,), preconditions=facts)
    done = Record(state=StepState.DONE, was=WAS, begun=True)
    return build_undo(Past(run="r-1", plan=plan, records={0: done}), World()).blockers


@pytest.mark.parametrize("facts", [{}, {"cluster_id": "now"}])
def test_a_run_whose_cluster_is_the_same_or_not_known_can_be_undone(facts):
    assert blockers(**facts) == ()


def test_a_run_on_another_cluster_is_not_undone_on_this_one():
    (said,) = blockers(cluster_id="then")
    assert said.startswith("the configured Kafka cluster is now, but the run was on then. Correct")
