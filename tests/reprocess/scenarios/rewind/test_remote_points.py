"""Restore points of a checkpoint on a remote file system: copies, gone back to and removed."""

import shutil

import pytest

from headgate.errors import EvidenceError
from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from headgate.gateway.checkpoint.points import damage
from headgate.model.restore_points import StoreRows
from headgate.reprocess.scenarios.build import build_plan
from headgate.usecases.context import Context
from headgate.usecases.restore_points.list_points import list_points
from headgate.usecases.restore_points.make_point import make_point
from headgate.usecases.restore_points.remove_points import remove_point
from support.checkpoint_writer import Writer

pytestmark = pytest.mark.slow


@pytest.fixture
def lab(remote, monkeypatch):
    """A lab whose remote checkpoint has batches with state."""

    def read_state(self, location, batch):
        return (StoreRows(operator=0, store="default", rows=2),)

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read_state)
    made = remote()
    folder = made.folder_of(made.declared)
    shutil.rmtree(folder)
    made.writer = Writer(folder)
    for _ in range(6):
        made.writer.add()
    return made


def context_of(lab):
    return Context(lab.led(), lab.store.database.url, lab.home)


def contents(folder):
    stores = sorted(folder.glob("state/0/[0-9]*"))
    names = (max(s.glob("[0-9]*.*"), key=lambda p: int(p.stem)) for s in stores)
    return [p.read_bytes().rstrip(b".").decode() for p in names]


def test_a_remote_point_is_a_copy_that_a_run_goes_back_to(lab):
    context = context_of(lab)
    point = make_point(context, "q")
    folder = lab.folder_of(point.location)
    assert point.location.startswith(f"{lab.declared}.headgate-points/")
    assert contents(folder) == [f"{n}/6" for n in range(4)]
    assert all(p.stat().st_nlink == 1 for p in folder.rglob("*") if p.is_file())
    assert damage(point, {}) is None
    for _ in range(8):
        lab.writer.add()
    assert read_checkpoint(str(folder)).head == (5, 5)
    found = list_points(context, "q")
    assert found.held_bytes == found.bytes == point.bytes

    kept = tree_hash(folder)
    plan = build_plan(
        "rewind",
        "q",
        lab.applier(),
        {"batch": 5, "sink": "kafka"},
        points=lab.store.restore_points.of,
    )
    assert plan.can_apply, plan.blockers
    assert plan.options["restore-point"] == point.id
    lab.run(plan)
    assert lab.now == lab.new
    new = lab.folder_of(lab.new)
    assert contents(new) == [f"{n}/6" for n in range(4)]
    assert (new / "offsets/5").read_bytes() == (folder / "offsets/5").read_bytes()
    assert tree_hash(folder) == kept

    remove_point(context, "q", point.id, by="ann")
    assert not any(p.is_file() for p in folder.parent.rglob("*"))


def test_what_was_left_half_made_goes(lab):
    context = context_of(lab)
    point = make_point(context, "q")
    left = lab.folder_of(point.location).parent / "20260101-000000-abcdef"
    (left / "offsets").mkdir(parents=True)
    (left / "offsets/3").write_text("v1")
    lab.writer.add()
    second = make_point(context, "q")
    assert not any(p.is_file() for p in left.rglob("*"))
    ids = [row.id for row in list_points(context, "q").points]
    assert ids == [second.id, point.id]


def test_a_remote_point_whose_document_cannot_be_read_is_kept(lab):
    context = context_of(lab)
    point = make_point(context, "q")
    folder = lab.folder_of(point.location)
    document, kept = folder.with_name(f"{folder.name}.json"), tree_hash(folder)
    was = document.read_bytes()
    document.write_bytes(was[:-1])
    lab.store.restore_points.remove(point.id)
    lab.writer.add()
    second = make_point(context, "q")
    assert tree_hash(folder) == kept
    assert set(list_points(context, "q").unreadable) == {point.id}
    with pytest.raises(EvidenceError, match="can't be read"):
        damage(point, {})
    document.write_bytes(was)
    lab.writer.add()
    third = make_point(context, "q")
    ids = {row.id for row in list_points(context, "q").points}
    assert ids == {point.id, second.id, third.id}
    document.unlink()
    assert (
        damage(point, {}) == f"restore point {point.id} is missing: {point.location}.json not found"
    )
