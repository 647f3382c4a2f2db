"""Which places a run is struck at, and in which order, when it is struck again and again."""

import os
import signal
import time

from scenes import scene
from scenes.chains import Chain, _was_over, chains
from scenes.faults import Survey, cells, kills
from scenes.points import Point, Target, _Passing, read_struck, read_trace, targets
from scenes.spark_programs import EVENTS, begun_jobs, event_log
from support.waiting import until

KIND = scene("from-point-group")


def point(number, position, what, side, seconds=0.0):
    return Point(number, position, what, side, seconds)


# One step with one effect twice, as where two topics are deleted.
PASSED = (
    point(0, 0, "begin", "before"),
    point(1, 0, "begin", "after"),
    point(2, 0, "delete_topic", "before", 1.0),
    point(3, 0, "delete_topic", "after", 1.1),
    point(4, 0, "delete_topic", "before", 2.0),
    point(5, 0, "delete_topic", "after", 7.0),
    point(6, 0, "done", "before"),
    point(7, 0, "done", "after"),
)


def test_a_target_is_the_nth_of_its_kind_and_its_midst_half_of_what_it_took():
    found = targets(PASSED)
    assert [found[n].nth for n in (2, 4)] == [0, 1]
    assert round(found[2].after, 3) == 0.05
    # Not later than what an effect takes on a machine at rest.
    assert found[4].after == 0.12


def test_each_place_is_in_one_chain_or_alone_in_one():
    survey = Survey(PASSED, PASSED)
    every = list(cells(KIND, survey))
    linked, others = chains(every)
    assert [(c.fault, len(c.left)) for c in linked] == [
        ("broker down", 1),
        ("disk full", 1),
        ("kill -9", 2 * len(list(kills(PASSED)))),
        ("store locked for a while", 1),
        ("store locked for longer than one waits", 1),
    ]
    assert {c.recovery for c in others} == {"cancel, undo", "one refuses", "one runs it"}
    alone, _ = chains(every, alone=True)
    assert [len(c.left) for c in alone] == [1] * sum(len(c.left) for c in linked)
    assert all(isinstance(c, Chain) for c in alone)


# One step that has Spark begin three jobs.
PROGRAM = (
    point(0, 0, "begin", "before"),
    point(1, 0, "begin", "after"),
    point(2, 0, "run", "before", 1.0),
    Point(3, 0, "run", "after", 9.0, jobs=3),
    point(4, 0, "done", "before"),
    point(5, 0, "done", "after"),
)


def test_the_midst_of_a_program_is_half_of_its_jobs_and_its_driver_dies_in_the_worker_s_chain():
    every = list(cells(scene("bounded-spark"), Survey(PROGRAM, PASSED)))
    inside = [c for c in every if c.location == "step 0: inside run" and c.target]
    assert {c.fault: (c.target.how, c.target.jobs) for c in inside} == {
        "kill -9": ("inside", 2),
        "kill -9 of the driver's Java": ("stop inside", 2),
        "kill -9 of the driver's Python": ("stop inside", 2),
        "kill -9 of an executor": ("stop inside", 2),
        "kill -9 of the broker": ("stop inside", 2),
    }
    together = {c.fault: {cell.fault for cell in c.left} for c in chains(every)[0]}
    assert together["kill -9"] == {c.fault for c in inside if "driver" in c.fault} | {"kill -9"}
    assert together["broker down"] == {"broker down", "kill -9 of the broker"}
    assert together["kill -9 of an executor"] == {"kill -9 of an executor"}
    # Nothing of these without a program.
    assert not any("kill -9 of" in c.fault for c in cells(KIND, Survey(PASSED, PASSED)))


def test_a_place_is_struck_by_one_fault_after_another_as_the_run_is_resumed(tmp_path, monkeypatch):
    struck = []
    monkeypatch.setattr("scenes.points.stop", struck.append)
    how = "stop inside"
    goals = [Target(0, "run", "before", 0, how, 0.0), Target(0, "run", "before", 0, how, 0.0, 1)]
    trace = tmp_path / "trace"
    passing = _Passing(str(trace), None, "kill", goals)
    record = passing.at_step(lambda this, position: None)
    run = passing.wrap("run", lambda this: time.sleep(0.2))
    for begun in (1, 2):
        record(None, 0)
        run(None)
        assert read_struck(trace) == goals[:begun]
        until(lambda begun=begun: len(struck) >= begun)
    record(None, 0)
    run(None)
    assert struck == [os.getpid()] * 2


def test_jobs_are_counted_of_the_programs_that_began_since(tmp_path):
    event_log(tmp_path)
    folder = tmp_path / EVENTS
    job = '{"Event":"SparkListenerJobStart","Job ID":0}\n'
    (folder / "local-1.inprogress").write_text(job)
    count = begun_jobs(tmp_path)
    (folder / "local-1.inprogress").rename(folder / "local-1")
    assert count() == 0
    (folder / "local-2.inprogress").write_text(job * 2 + "half a li")
    assert count() == 2


def test_the_first_target_that_is_passed_strikes_and_a_stop_leaves_the_others(
    tmp_path, monkeypatch
):
    sent = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(number))
    goals = [
        Target(1, "begin", "after", 0, "stop"),
        Target(2, "done", "before", 0, "kill"),
        Target(2, "done", "after", 0, "kill"),
    ]
    trace = tmp_path / "trace"
    passing = _Passing(str(trace), None, "kill", goals)
    begin = passing.wrap("begin", lambda this, position: None)
    done = passing.wrap("done", lambda this, position: None)
    for position in range(3):
        begin(None, position)
        done(None, position)
    assert sent == [signal.SIGSTOP, signal.SIGKILL]
    assert read_struck(trace) == goals[:2]
    assert len(read_trace(trace)) == 12


def test_an_effect_of_a_step_that_another_worker_has_begun_is_that_step_s(tmp_path):
    trace = tmp_path / "trace"
    passing = _Passing(str(trace), None, "kill", [])
    record = passing.at_step(lambda this, position: None)
    move = passing.wrap("move", lambda this: None)
    record(None, 4)
    move(None)
    assert [(p.position, p.what, p.side) for p in read_trace(trace)] == [
        (4, "move", "before"),
        (4, "move", "after"),
    ]


def test_a_kill_that_came_behind_the_effect_was_not_in_its_midst():
    target = Target(0, "delete_topic", "before", 0, "inside")
    assert not _was_over(target, PASSED[:3])
    assert _was_over(target, PASSED[:4])
    assert _was_over(target, PASSED[:7])
    assert not _was_over(Target(0, "delete_topic", "before", 1, "inside"), PASSED[:5])
