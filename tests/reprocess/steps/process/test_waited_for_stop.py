"""What speaks against a stop is said with the time that was waited, and with what helps."""

import pytest

from headgate.errors import RefusedError, StalePlanError
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.steps.base.step import check_entry_point
from headgate.reprocess.steps.process.pause import ConfirmDrained
from headgate.reprocess.steps.process.wait_until_stopped import wait_until_stopped
from support.flat_ports import FlatPorts

QUERY = Pipeline(
    name="q",
    engine=Engine.SPARK,
    checkpoint="/ck",
    commands=Commands(status="state"),
    entry_point="m:f",
)


class World(FlatPorts):
    """A query with a status command, and its driver."""

    def __init__(self, status=Status.STOPPED, driver=Status.UNKNOWN, there=QUERY):
        self.says, self.driver, self.there, self.notes = status, driver, there, []

    def registered(self, _pipeline):
        return self.there

    def status(self, _pipeline):
        return self.says

    def driver_status(self, _pipeline):
        return DriverStatus(self.driver, "headgate.watch last reported at 10:00")

    def read(self, location):
        return Checkpoint(location=location, query_id="id")

    def note(self, text):
        self.notes.append(text)

    def pause(self, seconds):
        pass


def test_who_waited_for_nothing_names_no_time():
    with pytest.raises(RefusedError, match=r"^q is not stopped: its status is running\. Stop"):
        wait_until_stopped(World(Status.RUNS), "q", patient=False)
    with pytest.raises(RefusedError, match=r"^q still runs \(headgate.watch last"):
        wait_until_stopped(World(driver=Status.RUNS), "q", patient=False)


def test_a_status_that_says_nothing_is_to_be_checked_and_not_the_pipeline():
    with pytest.raises(RefusedError, match=r"after 90 s: its status is unknown\. Check that the"):
        wait_until_stopped(World(Status.UNKNOWN), "q")


def test_a_query_without_batches_is_paused_before_its_first_one():
    here = World()
    ConfirmDrained(pipeline="q", checkpoint="/ck").apply(here, {})
    assert here.notes == ["q is paused before its first batch"]


def test_a_pipeline_that_is_gone_has_no_changed_entry_point():
    with pytest.raises(StalePlanError, match="q is no longer registered"):
        check_entry_point(World(there=None), "q", "m:f")
    with pytest.raises(StalePlanError, match="the entry point of q has changed since"):
        check_entry_point(World(), "q", "m:g")
