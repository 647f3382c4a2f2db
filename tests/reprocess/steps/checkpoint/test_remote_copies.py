"""A copy on a remote file system: what disturbs it is seen, and the old checkpoint is kept."""

import pytest

from headgate.errors import RefusedError, StepError, UnreachableError
from headgate.gateway.checkpoint import remote_copy
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.gateway.files import remote_write
from support.remote_lab import rewind_of

COPY = remote_write.RemoteChanges.copy


def test_a_write_that_is_not_allowed_costs_a_sentence_and_nothing_else(remote, monkeypatch):
    lab = remote()
    old = lab.old_hash

    def forbidden(self, path, data):
        raise PermissionError("the store denies access")

    monkeypatch.setattr(remote_write.RemoteChanges, "write", forbidden)
    said = lab.refused(rewind_of(lab))
    assert said.startswith("no permission to write s3a://b0/ck.2: the store denies access")
    lab.forget_start()
    assert lab.old_hash == old and lab.now == lab.declared
    assert not [p for p in lab.folder_of(lab.new).rglob("*") if p.is_file()]
    assert (lab.folder / "running").exists()


def test_an_object_that_changes_while_it_is_copied_is_seen(remote, monkeypatch):
    lab = remote()
    plan = rewind_of(lab)

    def slow(self, source, target, size):
        COPY(self, source, target, size)
        (lab.folder_of(lab.declared) / "sources/0/5").write_text("v1")

    monkeypatch.setattr(remote_write.RemoteChanges, "copy", slow)
    assert "changed during the copy: stop the process" in lab.refused(plan)
    assert lab.now == lab.declared


def test_a_copy_goes_on_where_it_was_and_is_nothing_without_its_manifest(remote, monkeypatch):
    lab = remote()
    applier = lab.applier("run")
    expected = applier.remote_checkpoints.listing_hash(lab.declared)
    copied = []

    def failing(self, source, target, size):
        if len(copied) == 2:
            raise OSError("the line is dead")
        copied.append(target)
        COPY(self, source, target, size)

    monkeypatch.setattr(remote_copy, "_AT_ONCE", 1)
    monkeypatch.setattr(remote_write.RemoteChanges, "copy", failing)
    with pytest.raises(UnreachableError, match="the line is dead"):
        applier.remote_checkpoints.copy(lab.declared, lab.new, expected=expected)
    said = f"{lab.new}.manifest.json, which Headgate writes last, is missing"
    assert applier.remote_checkpoints.issue(lab.new) == f"the copy {lab.new} is incomplete: {said}"
    before = {p: p.stat().st_mtime_ns for p in lab.folder_of(lab.new).rglob("*") if p.is_file()}
    monkeypatch.setattr(remote_write.RemoteChanges, "copy", COPY)
    applier.remote_checkpoints.copy(lab.declared, lab.new, expected=expected)
    assert len(before) == 2 and all(p.stat().st_mtime_ns == at for p, at in before.items())
    assert applier.remote_checkpoints.issue(lab.new) is None
    assert tree_hash(lab.folder_of(lab.new)) == lab.old_hash
    (lab.folder_of(lab.new) / "metadata").write_text('{"id":"other one"}')
    assert "metadata differs from the file that Headgate wrote" in applier.remote_checkpoints.issue(
        lab.new
    )
    (lab.folder_of(lab.new) / "metadata").unlink()
    assert (
        applier.remote_checkpoints.issue(lab.new)
        == f"{lab.new}/metadata is missing, although Headgate wrote this file"
    )


def test_an_object_that_goes_while_it_is_copied_is_the_old_checkpoints(remote, monkeypatch):
    lab = remote()
    plan = rewind_of(lab)

    def gone(self, source, target, size):
        raise FileNotFoundError(source)

    monkeypatch.setattr(remote_write.RemoteChanges, "copy", gone)
    assert lab.refused(plan).startswith(f"{lab.declared} changed during the copy: stop the process")


def test_only_a_numbered_neighbour_is_written_or_removed(remote):
    lab = remote()
    applier = lab.applier("run")
    for place in (lab.declared, "s3a://b0/other", "s3a://b0/ck.x", "s3a://b0/ck/offsets"):
        with pytest.raises(StepError, match="a run changes only copies that no"):
            applier.remote_checkpoints.delete(place, None)


@pytest.mark.parametrize(("reads", "verb"), [(True, "read"), (False, "write")])
def test_what_is_not_permitted_is_called_by_its_name(reads, verb):
    said = f"^no permission to {verb} s3://b/ck: denied$"
    with (
        pytest.raises(RefusedError, match=said),
        remote_copy.changing("s3://b/ck", reads=reads),
    ):
        raise PermissionError("denied")
