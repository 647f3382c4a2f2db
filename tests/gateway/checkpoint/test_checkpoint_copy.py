"""Copies of checkpoints, the proof that the original is as it was, and scratch folders."""

import fcntl
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.errors import RefusedError, SetupError, StepError
from headgate.gateway.checkpoint.copy import (
    check_disk_space,
    copy_checkpoint,
    point_to_itself,
    read_prints,
    size_of,
)
from headgate.gateway.files.evidence_files import find
from headgate.gateway.files.scratch_folders import scratch_folder

FILES = {
    "metadata": b'{"id": "x"}',
    "offsets/0": b"v1",
    "offsets/.0.crc": b"crc",
    "commits/0": b"",
    "state/0/0/1.delta": bytes(range(256)) * 9000,
}


@pytest.fixture
def checkpoint(tmp_path):
    for name, data in FILES.items():
        file = tmp_path / "ck" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return tmp_path / "ck"


def test_every_file_is_copied_and_hashed_hidden_ones_too(checkpoint, tmp_path):
    prints = copy_checkpoint(find(str(checkpoint)), tmp_path / "copy")
    copied = {n: (tmp_path / "copy" / n).read_bytes() for n in FILES}
    assert copied == FILES
    assert prints.files == {n: (hashlib.sha256(d).hexdigest(), len(d)) for n, d in FILES.items()}
    assert prints.bytes == size_of(find(str(checkpoint))) == sum(map(len, FILES.values()))
    # The copy is one: writing into it is not seen in the original.
    (tmp_path / "copy" / "offsets" / "0").write_bytes(b"v2")
    assert (checkpoint / "offsets" / "0").read_bytes() == b"v1"


def test_a_copy_names_its_own_schema_files_and_nothing_else_changes(tmp_path):
    """The file is as Spark 4.2 writes it for transformWithState."""
    folder = tmp_path / "copy" / "state" / "0" / "_metadata" / "v2"
    folder.mkdir(parents=True)
    paths = "s3a://team/ck/state/0/_stateSchema/default/0_300d"
    text = 'v2\n{"stateStoreInfo":[{"storeName":"default","stateSchemaFilePaths":["%s"]}]}'
    (folder / "0").write_text(text % paths)
    (folder / ".0.crc").write_bytes(b"of the old contents")
    for _ in range(2):
        point_to_itself(tmp_path / "copy")
        own = f"file:{tmp_path}/copy/state/0/_stateSchema/default/0_300d"
        assert (folder / "0").read_text() == text % own
    assert not (folder / ".0.crc").exists()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda ck: (ck / "offsets" / "1").write_bytes(b"v1"), "offsets/1"),
        (lambda ck: (ck / "commits" / "0").unlink(), "commits/0"),
        (lambda ck: (ck / "metadata").write_bytes(b'{"id": "y"}'), "metadata"),
    ],
)
def test_whatever_changes_is_seen_and_named(checkpoint, change, name):
    before = read_prints(find(str(checkpoint)))
    assert read_prints(find(str(checkpoint))).whole == before.whole
    change(checkpoint)
    after = read_prints(find(str(checkpoint)))
    assert after.whole != before.whole
    assert before.changed(after) == (name,)


def test_without_room_nothing_is_copied(tmp_path):
    with pytest.raises(RefusedError, match="Free disk space, or choose another folder"):
        check_disk_space(1 << 60, tmp_path)


def test_a_copy_that_can_not_be_written_says_which_file(checkpoint, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "into").symlink_to("/dev/full")
    place = find(str(checkpoint))
    from headgate.gateway.checkpoint.copy import _one

    with pytest.raises(StepError, match=r"into could not be written, .*: No space left on device"):
        _one(place.below("metadata"), tmp_path / "copy" / "into")


def test_a_scratch_folder_goes_at_the_end_also_after_an_error(tmp_path):
    with scratch_folder("try-", tmp_path) as folder:
        (folder / "big").write_bytes(b"x")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), scratch_folder("try-", tmp_path):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(tmp_path):
    left, used, other = (tmp_path / n for n in ("try-left", "try-used", "mine"))
    for folder in (left, used, other):
        folder.mkdir()
        (folder / ".lock").touch()
    if (child := os.fork()) == 0:
        # Its lock goes with it.
        fcntl.flock((left / ".lock").open("w"), fcntl.LOCK_EX)
        os._exit(0)
    os.waitpid(child, 0)
    with (used / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with scratch_folder("try-", tmp_path):
            assert not left.exists()
            assert used.exists()
    assert other.exists()


@pytest.mark.slow
def test_scratch_folders_that_are_made_at_once_do_not_take_each_other_for_left(tmp_path):
    def make(_):
        with scratch_folder("try-", tmp_path) as folder:
            return folder.is_dir()

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(make, range(2000)))
    assert not list(tmp_path.iterdir())


def test_no_scratch_folder_where_none_can_be_made(tmp_path):
    with (
        pytest.raises(SetupError, match="no temporary folder can be created"),
        scratch_folder("try-", tmp_path / "gone"),
    ):
        pass
