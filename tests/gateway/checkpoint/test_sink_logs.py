"""A file sink's own log as it was at the end of a batch, and the files that batches wrote."""

import json

import pytest

from headgate.errors import EvidenceError
from headgate.gateway.checkpoint.spark_metadata import (
    copy_sink_log,
    later_files,
    move_files,
    read_sink_log,
)


@pytest.fixture
def sink(tmp_path):
    """Makes a log: `sink("0", "2.compact", "3")`; batch N wrote the file `k=1/part-N`."""

    def make(*names):
        log = tmp_path / "_spark_metadata"
        log.mkdir()
        for name in names:
            last = int(name.removesuffix(".compact"))
            first = 0 if name.endswith(".compact") else last
            paths = [f"file://{tmp_path}/k=1/part-{n}" for n in range(first, last + 1)]
            (log / name).write_text("v1\n" + "\n".join(json.dumps({"path": p}) for p in paths))
            (log / f".{name}.crc").touch()
        return tmp_path

    return make


def test_a_folder_without_a_log_is_no_file_sink(tmp_path):
    assert read_sink_log(tmp_path, 0) is None and list(later_files(tmp_path, 0)) == []


CUTS = [
    ("0 1 2 3", 1, (2, 3), 2),
    ("0 1 2.compact 3", 2, (3,), 1),
    ("0 1 2.compact 3", 1, (2, 3), 2),
    ("2.compact 3 4 5.compact", 4, (5,), 1),
    ("0 1", 1, (), 0),
]


@pytest.mark.parametrize(("names", "batch", "later", "files"), CUTS)
def test_what_later_batches_wrote(sink, names, batch, later, files):
    found = read_sink_log(sink(*names.split()), batch)
    assert (found.later, found.files, found.problem) == (later, files, None)


PROBLEMS = [
    ("2.compact 3", 1, "the file of batch 0 is missing. Choose batch 2 or later"),
    ("0 2 3", 2, "the file of batch 1 is missing"),
]


@pytest.mark.parametrize(("names", "batch", "reason"), PROBLEMS)
def test_a_batch_that_stands_only_in_a_later_compacted_file(sink, names, batch, reason):
    assert reason in read_sink_log(sink(*names.split()), batch).problem


def test_an_entry_that_is_no_entry(sink):
    folder = sink("0", "1")
    (folder / "_spark_metadata" / "1").write_text("v1\n{")
    with pytest.raises(EvidenceError, match="_spark_metadata/1 can't be read"):
        read_sink_log(folder, 0)


def test_the_shorter_log_has_its_checksums(sink):
    folder = sink("0", "1", "2.compact", "3")
    copy_sink_log(folder, 2, folder / ".aside" / "new")
    copied = sorted(p.name for p in (folder / ".aside" / "new").iterdir())
    assert copied == [".0.crc", ".1.crc", ".2.compact.crc", "0", "1", "2.compact"]


def test_files_move_once_and_come_back(sink):
    folder = sink("0", "1")
    names = ["k=1/part-0", "k=1/part-1"]
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    for _ in range(2):
        move_files(folder, folder / ".aside", names)
        assert not any((folder / n).exists() for n in names)
    move_files(folder / ".aside", folder, names)
    assert [(folder / n).read_text() for n in names] == names


def test_files_elsewhere_are_not_the_sink_s(sink):
    folder = sink("0")
    log = folder / "_spark_metadata" / "1"
    log.write_text('v1\n{"path":"file:///etc/passwd"}\n{"path":"s3a://b/part-1"}')
    assert list(later_files(folder, 0)) == []
