"""A start is waited for as long as its status says that the pipeline runs, and says what lacks."""

import time

import pytest

from headgate.errors import StepError
from headgate.model.cluster import Group
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.process.stop_start import StartPipeline
from support.flat_ports import FlatPorts

START = StartPipeline(
    pipeline="q", command="run", stop="halt", has_status=True, checkpoint="/ck", fresh=True
)
WAS = {"head": ["id", 4, 4], "run": None}


class World(FlatPorts):
    """A query that writes batch 5 after so many seconds; each status takes `slow` seconds."""

    def __init__(self, batch_at=None, status=Status.RUNS, slow=0.0):
        self.batch_at, self.says, self.slow = batch_at, status, slow
        self.now, self.notes, self.asked = 0.0, [], 0

    def status(self, _pipeline):
        self.now += self.slow
        self.asked += 1
        return self.says

    def read(self, location):
        is_there = self.batch_at is not None and self.now >= self.batch_at
        last = 5 if is_there else 4
        return Checkpoint(
            location=location, query_id="id", last_offset_batch=last, last_commit_batch=last
        )

    def group(self, name):
        return Group(id=name, state="empty", members=())

    def note(self, text):
        self.notes.append(text)

    def pause(self, seconds):
        self.now += seconds


@pytest.fixture
def world(monkeypatch):
    def make(**fields):
        made = World(**fields)
        monkeypatch.setattr(time, "monotonic", lambda: made.now)
        return made

    return make


def test_a_start_that_takes_long_is_waited_for_with_notes(world):
    here = world(batch_at=400)
    START.verify(here, WAS)
    assert here.now == 400
    assert here.notes[0] == (
        "waiting for q (15 s): the status of q is running, but checkpoint /ck has no new batch"
    )
    assert 5 <= len(here.notes) <= 8


def test_what_lacks_is_named_with_the_true_time(world):
    here = world(slow=2.0)
    with pytest.raises(StepError) as raised:
        START.verify(here, WAS)
    assert str(raised.value) == (
        "602 s after the start, the status of q is running, but checkpoint /ck has no new batch. "
        "See the log of q"
    )
    assert 600 <= here.now < 606 and here.asked == 241, "one status command at a time"


@pytest.mark.parametrize(
    ("status", "seconds"), [(Status.UNKNOWN, 180), (Status.PAUSED, 180), (Status.STOPPED, 20)]
)
def test_what_does_not_run_is_not_waited_for_so_long(world, status, seconds):
    here = world(status=status)
    with pytest.raises(StepError, match=rf"start, q is not running \(status: {status.word}\)\. "):
        START.verify(here, WAS)
    assert seconds - 1 <= here.now <= seconds


def test_a_group_without_members_is_named(world):
    here = world()
    step = StartPipeline(pipeline="q", command="run", stop=None, has_status=False, group="g")
    with pytest.raises(StepError, match=r"^600 s after the start, group g has no members"):
        step.verify(here, WAS)
