"""Rate and time left of a pipeline that reads again, from two looks at it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets, RestoreOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.reprocess.steps.process.stop_start import ManualStep
from headgate.store.rows import RunState
from headgate.ui.runs.catch_up import catch_up_html
from headgate.usecases.runs.read_catch_up import CatchUpPositions, can_catch_up, pace

GROUP = {"group": "g", "group_type": "classic", "topics": {}}
ASK = ManualStep(pipeline="p", request="start p", stop=None, has_status=False)
RESET = ResetOffsets(target=Target(place=TargetKind.BEGINNING), **GROUP)
RESTORE = RestoreOffsets(moves=(), **GROUP)


def look(at, done, left, *, ended=1_000, at_end=0):
    return CatchUpPositions(at=at, done=done, left=left, ended=ended, partitions=4, at_end=at_end)


@pytest.mark.parametrize(
    ("last", "reads", "arrives", "seconds"),
    [
        (look(110, 300, 600), 20, 0, 30),
        (look(110, 300, 600, ended=1_100), 20, 10, 60),
        (look(110, 200, 900, ended=1_100), 10, 10, None),
        (look(110, 100, 800), 0, 0, None),
        (look(110, 900, 0), 80, 0, 0),
    ],
)
def test_time_left_is_what_waits_over_what_is_gained(last, reads, arrives, seconds):
    found = pace(look(100, 100, 800), last)
    assert (found.reads, found.arrives, found.seconds_left) == (reads, arrives, seconds)


def test_one_look_is_no_rate():
    once = look(100, 100, 800)
    assert pace(once, once) is None
    assert "unknown until the next update" in catch_up_html(once, once)


def test_words_are_those_of_the_counts():
    told = catch_up_html(look(100, 100, 800), look(110, 300, 600, at_end=1))
    assert "300 of 900 records, 1 of 4 partitions caught up" in told
    assert 'style="width:33.3%"' in told
    assert "about 30 s" in told
    stuck = catch_up_html(look(100, 100, 800), look(110, 100, 900, ended=1_100))
    assert "catch up at this rate" in stuck
    assert "the pipeline has caught up" in catch_up_html(
        look(100, 100, 800), look(110, 900, 0, at_end=4)
    )


@pytest.mark.parametrize(
    ("step", "state", "can"),
    [
        (ASK, RunState.DONE, True),
        (RESET, RunState.DONE, True),
        (RESTORE, RunState.DONE, True),
        (RESET, RunState.FAILED, False),
        (RecordOffsets(group="g"), RunState.DONE, False),
    ],
)
def test_what_let_it_begin_elsewhere_can_be_followed(step, state, can):
    plan, row = SimpleNamespace(steps=(step,), pipeline="p"), SimpleNamespace(state=state)
    assert can_catch_up(SimpleNamespace(plan=plan, row=row)) is can
