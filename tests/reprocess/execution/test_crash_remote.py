"""A run that leads a query to a new place survives a crash at every point."""

import itertools

import pytest

from headgate.gateway.checkpoint import remote_copy
from headgate.gateway.files import remote_write
from support.crashing import Crash, Points
from support.remote_lab import rewind_of, scratch_of
from support.sampled import crash_points


def assert_scratched(lab):
    assert (lab.folder_of(lab.new) / "metadata").read_text() == '{"id":"new"}\n'


def assert_rewound(lab):
    """The copy is what the same cut by hand is, and the query wrote its next batch to it."""
    new, old = lab.folder_of(lab.new), lab.folder_of(lab.declared)
    found = {p.relative_to(new).as_posix() for p in new.rglob("*") if p.is_file()}
    logs = ("offsets", "commits", "sources/0")
    kept = {"metadata", *(f"{log}/{batch}" for log in logs for batch in range(2))}
    assert found == {*kept, "offsets/9"}
    assert all((new / name).read_bytes() == (old / name).read_bytes() for name in kept)


CASES = pytest.mark.parametrize(
    ("planned", "check"),
    [
        pytest.param(scratch_of, assert_scratched, id="scratch"),
        # It has three times as many points; `make faults` kills its scene, too.
        pytest.param(rewind_of, assert_rewound, id="old-state", marks=pytest.mark.long),
    ],
)


class Crashing(remote_write.RemoteChanges):
    """The file system, where the process may be killed before or after each file."""

    points = Points()

    def copy(self, source, target, size):
        self.points.wrap(super().copy)(source, target, size)

    def write(self, path, data):
        self.points.wrap(super().write)(path, data)

    def remove(self, path):
        self.points.wrap(super().remove)(path)


@pytest.fixture
def killed(monkeypatch):
    """Counts each file that is written as a point, too; one at a time, to have an order."""
    monkeypatch.setattr(remote_write, "RemoteChanges", Crashing)
    monkeypatch.setattr(remote_copy, "_AT_ONCE", 1)

    def crash(lab, run, plan, at, undo_of=None):
        points = Crashing.points = Points(at)
        try:
            lab.execute(run, plan, undo_of, points=points)
        except Crash:
            return True
        finally:
            Crashing.points = Points()
        return False

    return crash


@pytest.mark.slow
@CASES
@crash_points
def test_a_crash_at_every_point(remote, killed, planned, check, step):
    for at in itertools.count(0, step):
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.enqueue(plan)
        crashed = killed(lab, run, plan, at)
        lab.execute(run, plan)
        check(lab)
        assert lab.now == lab.new and lab.old_hash == old
        assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()
        if not crashed:
            break
    assert at > 12


@pytest.mark.slow
@CASES
@crash_points
def test_a_crash_at_every_point_of_the_undo(remote, killed, planned, check, step):
    for at in itertools.count(0, step):
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.run(plan)
        undo = lab.undo(run, plan)
        back = lab.enqueue(undo, undo_of=run)
        crashed = killed(lab, back, undo, at, undo_of=run)
        lab.execute(back, undo, undo_of=run)
        assert lab.now == lab.declared and lab.started() == [lab.new, lab.declared]
        check(lab)
        lab.forget_start()
        assert lab.old_hash == old and not (lab.folder / "twice").exists()
        if not crashed:
            break
    assert at > 10


@pytest.mark.slow
@CASES
@crash_points
def test_what_a_crash_left_can_be_undone_instead(remote, killed, planned, check, step):
    for at in itertools.count(0, step):
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.enqueue(plan)
        crashed = killed(lab, run, plan, at)
        undo = lab.undo(run, plan)
        if undo.steps:
            assert undo.can_apply, undo.blockers
            lab.run(undo, undo_of=run)
        assert lab.now == lab.declared
        lab.forget_start()
        assert lab.old_hash == old
        assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()
        # What no query has used goes; what one has written to stays.
        left = any(p.is_file() for p in lab.folder_of(lab.new).rglob("*"))
        assert left == (lab.new in lab.started())
        if not crashed:
            break
    assert at > 12
