"""A pipeline that writes what the next step skips must be stopped by all that can be asked."""

from __future__ import annotations

import pytest

from headgate.errors import RefusedError
from headgate.model.cluster import Group, GroupType, Member
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.steps.offsets.skip_replaced import check_writers
from support.flat_ports import FlatPorts


class Paper(FlatPorts):
    """Two writers without a status command: an application and a query."""

    def __init__(self, members=(), quiet=600.0):
        self.members, self.quiet = members, quiet

    def registered(self, name):
        if name == "app":
            return Pipeline(name=name, engine=Engine.KAFKA_STREAMS, group="app")
        return Pipeline(name=name, engine=Engine.SPARK, checkpoint="/ck")

    def driver_status(self, name):
        return DriverStatus(status=Status.UNKNOWN)

    def group(self, name):
        state = "stable" if self.members else "empty"
        return Group(id=name, type=GroupType.CLASSIC, state=state, members=self.members)

    def read(self, location):
        return Checkpoint(
            location=location, query_id="q", batch_seconds=10.0, quiet_seconds=self.quiet
        )


def test_writers_that_are_stopped_are_no_obstacle():
    check_writers(Paper(), ("app", "query"))


def test_a_writer_with_members_in_its_group_is_refused():
    with pytest.raises(RefusedError, match="group app still has 1 member"):
        check_writers(Paper(members=(Member(id="m"),)), ("app",))


def test_a_writer_whose_logs_just_moved_is_refused():
    with pytest.raises(RefusedError, match=r"changed 2 s ago.*The next step skips"):
        check_writers(Paper(quiet=2.0), ("query",))
