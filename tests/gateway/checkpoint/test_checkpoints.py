import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from headgate.errors import EvidenceError, RefusedError, StepError
from headgate.gateway.checkpoint import folders as checkpoints


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "ck"
    (path / "offsets").mkdir(parents=True)
    (path / "commits").mkdir()
    (path / "metadata").write_text('{"id":"q-1"}')
    return path


def offsets(folder, batch, time_ms, *lines):
    text = "\n".join(["v1", f'{{"batchTimestampMs":{time_ms}}}', *lines])
    (folder / "offsets" / str(batch)).write_text(text)


def test_reads_ids_batches_and_offsets_of_kafka(folder):
    offsets(folder, 3, 1000, '{"orders":{"0":5,"1":6}}', '{"logOffset":2}')
    offsets(folder, 4, 3000, "-", '{"logOffset":3}')
    (folder / "offsets" / ".5.tmp").touch()
    (folder / "commits" / "3").write_text("v1\n{}")
    found = checkpoints.read_checkpoint(f"file://{folder}")
    assert (found.query_id, found.location) == ("q-1", str(folder))
    assert found.head == (4, 3)
    assert found.offsets == {"orders": {0: 5, 1: 6}}
    assert found.batch_seconds == 2.0 and found.fixed is None


def test_reads_offsets_that_the_second_log_format_wraps(folder):
    wrapped = '{"0":{"orders":{"0":7}},"1":"{\\"payments\\":{\\"2\\":9}}"}'
    offsets(folder, 0, 1, wrapped)
    found = checkpoints.read_checkpoint(str(folder)).offsets
    assert found == {"orders": {0: 7}, "payments": {2: 9}}


def test_a_folder_without_metadata_is_no_checkpoint(folder):
    (folder / "metadata").unlink()
    assert checkpoints.read_checkpoint(str(folder)) is None
    assert checkpoints.read_checkpoint(str(folder / "nowhere")) is None


def test_a_log_of_batches_without_metadata_is_a_broken_checkpoint(folder):
    offsets(folder, 0, 1_000)
    (folder / "metadata").unlink()
    with pytest.raises(
        EvidenceError, match=r"metadata is missing, but the offset log exists: .* plan repair"
    ):
        checkpoints.read_checkpoint(str(folder))


def test_a_metadata_without_an_id(folder):
    (folder / "metadata").write_text("[]")
    with pytest.raises(EvidenceError, match="no query id"):
        checkpoints.read_checkpoint(str(folder))


def test_a_remote_location_is_refused_with_the_reason():
    with pytest.raises(RefusedError, match="remote"):
        checkpoints.read_checkpoint("s3a://bucket/ck")


def test_the_hash_sees_names_kinds_and_bytes(folder):
    first = checkpoints.tree_hash(folder)
    os.utime(folder / "metadata", (1, 1))
    assert checkpoints.tree_hash(folder) == first
    (folder / "empty").mkdir()
    second = checkpoints.tree_hash(folder)
    (folder / "empty").rmdir()
    (folder / "empty").touch()
    third = checkpoints.tree_hash(folder)
    assert len({first, second, third}) == 3
    assert checkpoints.tree_hash(folder / "nowhere") is None


def test_a_copy_is_whole_and_survives_the_original(folder, tmp_path):
    copy = tmp_path / "runs" / "copy"
    copy.mkdir(parents=True)
    (copy / "left from an earlier try").touch()
    before = checkpoints.tree_hash(folder)
    checkpoints.copy_tree(folder, copy)
    shutil.rmtree(folder)
    assert checkpoints.tree_hash(copy) == before


def test_a_copy_to_another_file_system(folder):
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == folder.stat().st_dev:
        pytest.skip("no other file system here")
    with TemporaryDirectory(dir=memory) as other:
        checkpoints.copy_tree(folder, Path(other) / "copy")
        assert checkpoints.tree_hash(Path(other) / "copy") == checkpoints.tree_hash(folder)


def test_a_move_never_overwrites(folder, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(StepError, match="already exists"):
        checkpoints.move(folder, tmp_path / "there")
    checkpoints.move(folder, tmp_path / "new")
    assert (tmp_path / "new" / "metadata").exists() and not folder.exists()


def test_what_goes_away_while_it_is_hashed_is_a_refusal(folder, monkeypatch):
    def gone(entry, most):
        raise FileNotFoundError(2, "No such file or directory", str(entry))

    (folder / "f").write_text("x")
    monkeypatch.setattr(checkpoints, "_content", gone)
    with pytest.raises(RefusedError, match="can't be read: No such file"):
        checkpoints.tree_hash(folder)
