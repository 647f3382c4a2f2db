"""The log that a file sink keeps in its output: what it tells, and what it warns of."""

import shutil
from pathlib import Path

import pytest

from headgate.parse.spark.checkpoint.spark_metadata import newest_files, read_sink_log
from headgate.usecases.evidence.read_version import read_version

GOLDEN = Path(__file__).parents[3] / "golden/checkpoints/files_to_files"


@pytest.mark.parametrize("place", ["output", "output/_spark_metadata"])
def test_an_output_tells_of_its_sink(place):
    version = read_version([str(GOLDEN / place)])
    sink = version.sink
    assert (sink.format, sink.target) == ("json", "file:///data/files_to_files/out")
    assert sink.partition_by == ("k",)
    assert [e.kind for e in version.evidence] == ["sink-log"]


def test_it_completes_the_checkpoint():
    version = read_version([str(GOLDEN / "checkpoint"), str(GOLDEN / "output")])
    assert version.sink.target == "file:///data/files_to_files/out"
    assert version.progress.last_commit_batch == 6
    assert not [w for w in version.warnings if "sink's log" in w]


def test_an_output_that_is_ahead_of_the_checkpoint_is_told(tmp_path):
    checkpoint = Path(shutil.copytree(GOLDEN / "checkpoint", tmp_path / "ck"))
    for log in ("offsets", "commits"):
        for number in (5, 6):
            (checkpoint / log / str(number)).unlink()
    version = read_version([str(checkpoint), str(GOLDEN / "output")])
    assert (
        "`_spark_metadata` has batch 6, but the checkpoint ends at batch 4:"
        " after a restart, the file sink writes nothing for batches up to 6"
    ) in version.warnings


def test_the_output_itself_is_not_read(tmp_path):
    shutil.copytree(GOLDEN / "output", tmp_path / "out")
    (tmp_path / "out/k=k0").mkdir()
    (tmp_path / "out/part-0.json").write_text('{"spark.secret": "x"}')
    version = read_version([str(tmp_path / "out")])
    assert [e.kind for e in version.evidence] == ["sink-log"]
    assert version.settings == {}


def test_the_newest_and_what_is_compacted_is_read():
    names = [*map(str, range(9, 15)), "9.compact", "x", ".15.crc"]
    assert newest_files(names) == ["12", "13", "14", "9.compact"]


@pytest.mark.parametrize("data", [b"", b"v1\n{", b'v1\n{"path":3}', b"\0\xff"])
def test_a_broken_file_is_named(data):
    found = read_sink_log({"3": data}, ["3"], source="out/_spark_metadata", cut=frozenset())
    assert found.last_batch == 3
    (warning,) = found.warnings
    assert warning.startswith("out/_spark_metadata/3 can't be read: ")


def test_a_file_that_was_not_read_to_its_end_gives_its_whole_lines():
    line = '{"path":"s3://b/out/part-0-c000.snappy.parquet","size":1}'
    data = f"v1\n{line}\n{line[:20]}".encode()
    found = read_sink_log({"3.compact": data}, ["3.compact"], source="x", cut={"3.compact"})
    assert (found.format, found.target, found.partition_by) == ("parquet", "s3://b/out", ())
    assert found.warnings == ()


def test_files_of_two_partitionings_leave_it_open():
    lines = '{"path":"/o/a=1/x.orc"}\n{"path":"/o/b=1/x.orc"}'
    found = read_sink_log({"1": f"v1\n{lines}".encode()}, ["1"], source="x", cut=frozenset())
    assert (found.target, found.partition_by, found.format) == ("/o", None, "orc")
