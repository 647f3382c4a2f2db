"""A copy of a checkpoint that ends at an older batch: what is in it, what it shares."""

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, StepError
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.checkpoint.batches import read_batches
from headgate.gateway.checkpoint.create import create_checkpoint, differs
from headgate.gateway.checkpoint.folders import copy_error, copy_tree, tree_hash
from headgate.gateway.checkpoint.history import HISTORY
from headgate.gateway.checkpoint.rewind_copy import copy_to_batch
from headgate.gateway.checkpoint.rewind_facts import read_rewind
from headgate.model.registered_pipelines import Registry
from headgate.model.restore_points import SnapshotSize
from headgate.reprocess.steps.checkpoint.replace import SnapshotCheckpoint
from headgate.text.numbers import size

GOLDEN = Path(__file__).parents[2] / "golden" / "checkpoints"


@pytest.fixture
def written(tmp_path):
    """Copies a checkpoint that Spark wrote, with the files that it has read."""

    def make(name):
        folder = tmp_path / "ck"
        shutil.copytree(GOLDEN / name / "checkpoint", folder)
        for file in folder.glob("sources/*/*"):
            file.write_text(file.read_text().replace(f"/data/{name}", str(tmp_path)))
            for line in filter(lambda row: '"path"' in row, file.read_text().splitlines()):
                made = Path(json.loads(line)["path"].removeprefix("file://"))
                made.parent.mkdir(exist_ok=True)
                made.touch()
        return folder

    return make


def snapshot(file, tables=()):
    """A snapshot as RocksDB's provider packs it; the golden ones hold no data."""
    with zipfile.ZipFile(file, "w") as archive:
        named = [{"localFileName": "000008.sst", "dfsSstFileName": t} for t in tables]
        archive.writestr("metadata", "v1\n" + json.dumps({"sstFiles": named, "numKeys": 1}))


@pytest.mark.parametrize("name", ["join", "rocksdb_changelog", "rocksdb_ids", "files_to_files"])
def test_every_batch_of_what_spark_wrote_is_whole(written, name):
    folder = written(name)
    batches = read_batches(folder)
    assert [b.number for b in batches] == list(range(len(batches)))
    for batch in batches:
        found = read_rewind(folder, batch.number)
        assert (found.missing, found.lost_inputs) == ((), ())
        assert found.stores == {"join": 8}.get(name, 2)


def test_offsets_of_kafka_time_and_watermark(written):
    batch = read_batches(written("kafka_source"))[1]
    assert batch.offsets == {"orders": {0: 3, 1: 3}} and batch.other_sources == 0
    assert batch.planned_ms == 1795272425577
    assert read_batches(GOLDEN / "stateless_rate" / "checkpoint")[0].other_sources == 1


DAMAGE = [
    ("rocksdb_changelog", "state/0/1/1.changelog", "state/0/1 lacks 1.changelog or 1.zip"),
    ("rocksdb_ids", "state/0/0/1_674cfae1-*.changelog", "lacks 1_674cfae1-7a29"),
    (
        "join",
        "state/0/1/left-keyToNumValues/1.delta",
        "state/0/1/left-keyToNumValues lacks 1.delta",
    ),
]


@pytest.mark.parametrize(("name", "file", "reason"), DAMAGE)
def test_a_file_that_the_state_needs_and_is_gone(written, name, file, reason):
    folder = written(name)
    for found in folder.glob(file):
        found.unlink()
    (missing,) = read_rewind(folder, 0).missing
    assert reason in missing and "which Spark needs to load the state after batch 0" in missing


def test_a_copy_that_fails_names_one_file_and_the_reason():
    why = "[Errno 28] No space left on device: '/ck/a' -> '/copy/a'"
    several = shutil.Error([("/ck/a", "/copy/a", why), ("/ck/b", "/copy/b", "[Errno 5] I/O")])
    assert copy_error(several) == "/ck/a: No space left on device"
    assert copy_error(OSError(28, "No space left on device")) == "No space left on device"
    assert copy_error(PermissionError(13, "Permission denied", "/x")) == "/x: Permission denied"
    assert copy_error(ValueError("no JSON")) == "no JSON"


def test_another_try_of_the_same_version_is_not_taken_for_it(written):
    folder = written("rocksdb_ids")
    (right,) = folder.glob("state/0/0/2_*.changelog")
    right.rename(right.with_name("2_00000000-0000-4000-8000-000000000000.changelog"))
    assert "lacks 2_cd21aac2" in read_rewind(folder, 1).missing[0]
    assert read_rewind(folder, 0).missing == ()


def test_a_snapshot_needs_the_tables_that_it_names(written):
    folder = written("rocksdb")
    for file in folder.glob("state/0/*/*.zip"):
        snapshot(file, ["000008-a.sst"])
        (file.parent / "SSTs").mkdir(exist_ok=True)
        (file.parent / "SSTs" / "000008-a.sst").touch()
    assert read_rewind(folder, 0).missing == ()
    (folder / "state/0/1/SSTs/000008-a.sst").unlink()
    assert read_rewind(folder, 0).missing == (
        "state/0/1 lacks SSTs/000008-a.sst, which 1.zip needs",
    )
    (folder / "state/0/0/1.zip").write_bytes(b"PK")
    assert "state/0/0/1.zip can't be read" in read_rewind(folder, 0).missing[0]


def test_many_damaged_stores_are_counted(written):
    folder = written("join")
    for file in folder.glob("state/0/*/*/1.delta"):
        file.unlink()
    assert read_rewind(folder, 0).missing[3:] == ("5 more state stores with missing files",)


def test_logs_that_can_not_be_read(written):
    folder = written("kafka_source")
    (folder / "offsets" / "1").write_text("v1\n")
    with pytest.raises(EvidenceError, match=r"offsets/1 can't be read: the file is incomplete"):
        read_batches(folder)


def names(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_the_copy_ends_at_the_batch_and_the_original_stays(written, tmp_path):
    folder = written("files_to_files")
    for hidden in ("offsets/.6.crc", "state/0/0/.7.delta.crc", "commits/.5.abc.tmp"):
        (folder / hidden).touch()
    (folder / "state/0/0/6_0a-b.zip.crc").touch()
    before = tree_hash(folder)
    copy_to_batch(folder, tmp_path / "copy", 3)
    gone = {
        *(f"{log}/{n}" for log in ("offsets", "commits") for n in (4, 5, 6)),
        *(f"state/0/{p}/{v}.delta" for p in (0, 1) for v in (5, 6, 7)),
        *("sources/0/4", "sources/0/5.compact", "sources/0/6"),
        *("offsets/.6.crc", "state/0/0/.7.delta.crc", "commits/.5.abc.tmp"),
        "state/0/0/6_0a-b.zip.crc",
    }
    assert names(folder) - names(tmp_path / "copy") == gone
    assert tree_hash(folder) == before
    shared = {n for n in names(tmp_path / "copy") if os.stat(tmp_path / "copy" / n).st_nlink > 1}  # noqa: PTH116
    assert shared == {f"state/0/{p}/{v}.delta" for p in (0, 1) for v in (1, 2, 3, 4)}


def test_a_copy_on_a_file_system_without_links(written, tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(1, "Operation not permitted")

    folder = written("files_to_files")
    copy_to_batch(folder, tmp_path / "linked", 3)
    monkeypatch.setattr(os, "link", refuse)
    copy_to_batch(folder, tmp_path / "copy", 3)
    for name in ("copy", "linked"):
        # Each says which copy it is.
        (tmp_path / name / HISTORY).unlink()
    assert tree_hash(tmp_path / "copy") == tree_hash(tmp_path / "linked")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 0))
    with pytest.raises(
        StepError, match=r"has 0 B free, but the copy of .* needs \d.* k?B\. Free disk space"
    ):
        copy_to_batch(folder, tmp_path / "copy", 3)


def test_a_copy_that_was_left_half_done_is_made_anew(written, tmp_path):
    folder = written("files_to_files")
    (tmp_path / "copy" / "offsets").mkdir(parents=True)
    (tmp_path / "copy" / "offsets" / "9").touch()
    copy_to_batch(folder, tmp_path / "copy", 3)
    assert [b.number for b in read_batches(tmp_path / "copy")] == [0, 1, 2, 3]


def test_schemas_of_later_batches_are_left_behind(written, tmp_path):
    folder = written("variables")
    later = folder / "state/0/_metadata/v2"
    first = sorted(int(p.name) for p in later.iterdir() if p.name.isdigit())
    (later / "1").write_text((later / str(first[0])).read_text())
    (folder / "state/0/_stateSchema/default/1_0a1b").touch()
    copy_to_batch(folder, tmp_path / "copy", 0)
    assert names(tmp_path / "copy" / "state/0/_metadata") == {"v2/0"}
    assert not (tmp_path / "copy/state/0/_stateSchema/default/1_0a1b").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_checkpoint_that_is_a_copy_names_its_own_schemas_from_then_on(written, tmp_path, there):
    """One whose address is nowhere on this machine is how the query's own machine sees it."""
    folder = written("variables")
    other = tmp_path / "original"
    if there:
        other.mkdir()
    for file in folder.glob("state/*/_metadata/v2/*"):
        file.write_text(file.read_text().replace("/data/variables/checkpoint", str(other)))
    assert read_rewind(folder, 0).foreign_schema_files == ((str(other),) if there else ())
    before = tree_hash(folder)
    copy_to_batch(folder, tmp_path / "copy", 0)
    text = (tmp_path / "copy/state/0/_metadata/v2/0").read_text()
    assert (f'"file:{folder}/state/0/_stateSchema' in text) == there
    assert (str(other) in text) != there
    assert tree_hash(folder) == before


def test_a_snapshot_shares_state_and_copies_what_hands_may_edit(written, tmp_path):
    folder = written("files_to_files")
    copy_tree(folder, tmp_path / "snapshot")
    assert tree_hash(tmp_path / "snapshot") == tree_hash(folder)
    with (folder / "offsets" / "6").open("a") as log:
        log.write("edited")
    assert "edited" not in (tmp_path / "snapshot" / "offsets" / "6").read_text()
    delta = "state/0/0/1.delta"
    assert (tmp_path / "snapshot" / delta).stat().st_ino == (folder / delta).stat().st_ino


def test_a_large_file_of_state_is_told_by_its_size_and_time(tmp_path):
    folder = tmp_path / "ck"
    (folder / "state/0/0").mkdir(parents=True)
    large = "state/0/0/7.zip"
    (folder / large).write_bytes(bytes(100_000))
    (folder / "small").write_text("x")
    quick, whole = tree_hash(folder, whole=False), tree_hash(folder)
    assert quick != whole
    shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copy2)
    assert tree_hash(tmp_path / "copy", whole=False) == quick
    os.utime(folder / "small", (1, 1))
    assert tree_hash(folder, whole=False) == quick
    (folder / large).write_bytes(bytes(99_999) + b"1")
    os.utime(folder / large, (1, 1))
    assert tree_hash(folder, whole=False) != quick and tree_hash(folder) != whole


def test_a_large_log_is_told_by_its_bytes_also_where_its_size_and_time_were_kept(tmp_path):
    folder = tmp_path / "ck"
    (folder / "sources/0").mkdir(parents=True)
    log = folder / "sources/0/9.compact"
    log.write_bytes(bytes(100_000))
    os.utime(log, (1, 1))
    quick = tree_hash(folder, whole=False)
    assert quick == tree_hash(folder)
    log.write_bytes(bytes(99_999) + b"1")
    os.utime(log, (1, 1))
    assert tree_hash(folder, whole=False) != quick


@pytest.mark.parametrize("name", ["rocksdb_changelog", "files_to_files"])
def test_the_size_of_a_snapshot_counts_what_is_copied_and_what_is_linked(written, tmp_path, name):
    folder, home = written(name), tmp_path / "home"
    if name == "rocksdb_changelog":
        # The golden ones hold no data.
        (folder / "state/0/0/7.zip").write_bytes(bytes(5000))
    found = LiveInspector(Registry(), home).checkpoints.snapshot_size(str(folder))
    copy_tree(folder, home / "copy")
    files = [p.stat() for p in (home / "copy").rglob("*") if p.is_file()]
    own = sum(f.st_size for f in files if f.st_nlink == 1)
    assert found == SnapshotSize(files=len(files), bytes=sum(f.st_size for f in files), copied=own)
    assert found.copied > 0 and (found.copied < found.bytes) is (name == "rocksdb_changelog")
    step = SnapshotCheckpoint(
        pipeline="q", checkpoint="/c", query_id="i", bytes=found.bytes, copied=found.copied
    )
    how = "state as hard links" if name == "rocksdb_changelog" else "full copy"
    assert step.describe() == f"copy the checkpoint /c ({size(found.bytes)}, {how})"


def test_a_new_checkpoint_that_was_changed_says_how(tmp_path):
    like = GOLDEN / "kafka_source" / "checkpoint"
    draft = tmp_path / ".ck.new-run"
    create_checkpoint(draft, like, "an-id", ())
    assert differs(draft, like, "an-id", ()) is None
    (draft / "more").touch()
    assert differs(draft, like, "an-id", ()) == f"{draft}/more was not written by this run"
    (draft / "more").unlink()
    (draft / "metadata").write_text("{}")
    said = differs(draft, like, "an-id", ())
    assert said == f"{draft}/metadata differs from the file that Headgate wrote"
    (draft / "metadata").unlink()
    said = differs(draft, like, "an-id", ())
    assert said == f"{draft}/metadata is missing, although Headgate wrote this file"
