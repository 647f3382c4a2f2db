"""Checkpoints as they are after accidents: what can be read is read, warnings name the rest."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.usecases.evidence.read_batches import read_batches
from headgate.usecases.evidence.read_version import read_version

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[2] / "golden/checkpoints"
NOBODY = 65534


@pytest.fixture
def checkpoint(tmp_path):
    """A copy of a checkpoint with state, that may be damaged."""
    return Path(shutil.copytree(GOLDEN / "rocksdb/checkpoint", tmp_path / "ck"))


def warnings(checkpoint):
    version = read_version([str(checkpoint)])
    return [
        w.replace(f"{checkpoint}/", "").replace(str(checkpoint), ".")
        for w in version.warnings
        if "has no query plan" not in w
    ], version


def test_a_whole_one_has_nothing_to_say(checkpoint):
    found, version = warnings(checkpoint)
    assert found == []
    assert version.stateful[0].stores[0].partitions == 2


def test_without_metadata_the_rest_is_read(checkpoint):
    (checkpoint / "metadata").unlink()
    found, version = warnings(checkpoint)
    assert found == ["metadata is missing"]
    assert version.query_id is None
    assert version.progress.last_commit_batch == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "the file is empty"), (b"v1\n", "the file is incomplete"), (b"\xff\xfe\0", "decode")],
)
def test_the_newest_offsets_that_are_broken_leave_those_before(checkpoint, content, reason):
    (checkpoint / "offsets/1").write_bytes(content)
    found, version = warnings(checkpoint)
    assert len(found) == 1
    assert found[0].startswith("offsets/1 can't be read: ")
    assert reason in found[0]
    assert version.sources[0].offsets == {"logOffset": 0}
    assert version.pinned["spark.sql.shuffle.partitions"] == "2"


def test_drafts_and_checksums_of_spark_are_no_batches(checkpoint):
    for name in (".2.crc", ".2.4c1c.tmp", ".metadata.crc"):
        (checkpoint / "offsets" / name).write_bytes(b"x")
    assert warnings(checkpoint)[0] == []


def test_what_does_not_belong_there_is_named(checkpoint):
    (checkpoint / "offsets/1.bak").write_bytes(b"x")
    (checkpoint / "README").write_text("x")
    found, version = warnings(checkpoint)
    assert found == [
        "offsets contains files that aren't batches: 1.bak",
        ". contains files that aren't part of a checkpoint: README",
    ]
    assert version.progress.last_offset_batch == 1


def test_a_checkpoint_within_a_checkpoint_is_not_mixed_in(checkpoint):
    shutil.copytree(GOLDEN / "kafka_source/checkpoint", checkpoint / "inner")
    found, version = warnings(checkpoint)
    assert found == [". contains files that aren't part of a checkpoint: inner"]
    assert [s.format for s in version.sources] == ["file"]


def test_gaps_are_told(checkpoint):
    for number in (4, 5, 9):
        shutil.copy(checkpoint / "offsets/1", checkpoint / f"offsets/{number}")
    assert warnings(checkpoint)[0] == ["offsets lacks batches 2 to 3, 6 to 8"]


def test_a_gap_of_one_batch_is_told(checkpoint):
    shutil.copy(checkpoint / "offsets/1", checkpoint / "offsets/3")
    assert warnings(checkpoint)[0] == ["offsets lacks batch 2"]


def test_a_commit_without_its_batch_is_told(checkpoint):
    shutil.copy(checkpoint / "commits/1", checkpoint / "commits/2")
    found, version = warnings(checkpoint)
    assert found == ["commits has batch 2, but offsets ends at 1"]
    assert read_batches(str(checkpoint)).batches[-1].sources is None
    assert version.progress.last_commit_batch == 2


def test_state_without_logs_has_its_operators(checkpoint):
    for log in ("offsets", "commits"):
        shutil.rmtree(checkpoint / log)
    found, version = warnings(checkpoint)
    assert found == ["offsets contains no batch"]
    assert [o.name for o in version.stateful] == ["stateStoreSave"]
    assert version.sources is None
    assert read_batches(str(checkpoint)).batches == ()


def test_logs_without_state_have_their_offsets(checkpoint):
    shutil.rmtree(checkpoint / "state")
    assert warnings(checkpoint)[1].sources[0].offsets == {"logOffset": 1}


def test_folders_of_more_partitions_than_the_metadata_says(checkpoint):
    (checkpoint / "state/0/2").mkdir()
    assert warnings(checkpoint)[0] == [
        "state/0 has folders of 3 partitions, but `_metadata` says 2"
    ]


def test_state_of_another_provider_than_the_log_says(checkpoint):
    text = (checkpoint / "offsets/1").read_text()
    other = text.replace("RocksDBStateStoreProvider", "HDFSBackedStateStoreProvider")
    (checkpoint / "offsets/1").write_text(other)
    (found,) = warnings(checkpoint)[0]
    assert "offsets names the state store provider HDFSBackedStateStoreProvider" in found
    assert "RocksDBStateStoreProvider" in found


def test_links_that_lead_round_in_circles_end(checkpoint):
    (checkpoint / "state/0/_stateSchema").symlink_to(checkpoint)
    (checkpoint / "loop").symlink_to(checkpoint)
    (checkpoint / "offsets/2").symlink_to("2")
    (checkpoint / "offsets/3").symlink_to("nowhere")
    found, version = warnings(checkpoint)
    assert ". contains files that aren't part of a checkpoint: loop" in found
    assert any(w.startswith("offsets/2 can't be read: ") for w in found)
    assert any(w.startswith("offsets/3 can't be read: ") for w in found)
    assert version.sources[0].offsets == {"logOffset": 1}


def test_a_folder_where_a_file_belongs_is_no_batch(checkpoint):
    (checkpoint / "offsets/2").mkdir()
    (checkpoint / "commits/1").unlink()
    (checkpoint / "commits/1").mkdir()
    version = warnings(checkpoint)[1]
    assert (version.progress.last_offset_batch, version.progress.last_commit_batch) == (1, 0)


def test_a_log_of_many_batches_is_not_read_whole(checkpoint):
    for number in range(2, 20_000):
        (checkpoint / f"offsets/{number}").symlink_to("1")
    version = warnings(checkpoint)[1]
    assert version.progress.last_offset_batch == 19_999
    found = read_batches(str(checkpoint), newest=3)
    assert [b.number for b in found.batches if b.sources] == [19_997, 19_998, 19_999]


def test_a_number_that_no_batch_has_is_no_batch(checkpoint):
    (checkpoint / "offsets" / ("9" * 200)).write_text("x")
    (checkpoint / "offsets/٣").write_text("x")
    found, version = warnings(checkpoint)
    assert version.progress.last_offset_batch == 1
    assert len(found) == 1
    assert found[0].startswith("offsets contains files that aren't batches: ")


@pytest.fixture
def as_nobody():
    """Read as a user who may not read everything, where the tests run as root."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
        yield
        os.seteuid(0)
    else:
        yield


@pytest.fixture
def locked():
    """A checkpoint of which one file and one folder may not be read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        copy = Path(shutil.copytree(GOLDEN / "rocksdb/checkpoint", f"{folder}/ck"))
        read_version([str(copy)])
        (copy / "offsets/1").chmod(0)
        (copy / "state/0/_metadata").chmod(0)
        yield copy
        (copy / "state/0/_metadata").chmod(0o755)


def test_what_may_not_be_read_is_named_and_the_rest_is_read(locked, as_nobody):
    found, version = warnings(locked)
    assert "no permission to read offsets/1: Permission denied" in found
    assert "no permission to read state/0/_metadata: Permission denied" in found
    assert version.sources[0].offsets == {"logOffset": 0}
    assert version.stateful[0].stores[0].key_schema is not None


def test_a_checkpoint_that_may_not_be_listed_is_one_sentence(locked, as_nobody):
    with pytest.raises(
        EvidenceError, match=r"no permission to read .*_metadata: Permission denied"
    ):
        read_version([str(locked / "state/0/_metadata")])


def test_no_checkpoint_has_no_batches(tmp_path):
    with pytest.raises(
        EvidenceError, match="isn't a Spark checkpoint: the folder has no offset log"
    ):
        read_batches(str(tmp_path))
    with pytest.raises(EvidenceError, match=r"^checkpoint .*/none not found$"):
        read_batches(str(tmp_path / "none"))
    (tmp_path / "file").write_text("no checkpoint")
    with pytest.raises(EvidenceError, match="checkpoint: it is a file, not a folder"):
        read_batches(str(tmp_path / "file"))
