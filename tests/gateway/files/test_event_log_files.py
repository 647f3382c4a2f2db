"""Event logs as files: every packing gives the same, and what is broken off is read that far."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.gateway.files.decompress import packing
from headgate.gateway.files.evidence_files import FileLocation, entries, find
from headgate.gateway.spark.event_logs import event_log, event_log_of, is_rolling, rolling_log
from headgate.parse.spark.event_log.read import EventLog
from support.event_logs import COMPACTED, FINISHED, PLAIN, ROOT, RUNNING
from support.waiting import PATIENCE


def _place(path: Path) -> FileLocation:
    place = find(str(path))
    assert place is not None
    return place


def _read(path: Path) -> EventLog:
    place = _place(path)
    files = (
        rolling_log(place, [e.name for e in entries(place)])
        if place.is_folder
        else event_log(place)
    )
    assert files is not None
    return files.read()


@pytest.mark.parametrize("path", FINISHED, ids=lambda p: p.parent.name)
def test_every_packing_of_a_finished_log_says_the_same(path: Path):
    log, plain = _read(path), _read(PLAIN)
    assert log.runs == plain.runs
    assert log.applications == plain.applications
    assert (log.events, log.warnings) == (plain.events, ())
    assert plain.events == len(PLAIN.read_bytes().splitlines())


@pytest.mark.parametrize("path", RUNNING, ids=lambda p: p.name)
def test_a_log_that_is_being_written_is_read_as_far_as_it_goes(path: Path):
    log, plain = _read(path), _read(PLAIN)
    finished = {r.run_id: r for r in plain.runs}
    assert [r.run_id for r in log.runs][:3] == [r.run_id for r in plain.runs][:3]
    assert all(r == finished[r.run_id] for r in log.runs if r.ended)
    assert log.applications[0].ended_at is None
    assert len(log.warnings) <= 1


def test_a_compacted_file_stands_for_those_before_it():
    log = _read(COMPACTED)
    names = [f.name.rpartition("/")[2] for f in rolling_log(_place(COMPACTED), _names()).files]
    assert names == ["events_2_local-1.zstd.compact", "events_3_local-1.zstd"]
    assert log.warnings == ()
    assert [r.run_id for r in log.runs] == [r.run_id for r in _read(PLAIN).runs]


def _names() -> list[str]:
    return [e.name for e in entries(_place(COMPACTED))]


def test_files_of_a_rolling_log_follow_their_numbers(tmp_path: Path):
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    for number in range(1, 13):
        part = lines[(number - 1) * 9 : number * 9 if number < 12 else None]
        (tmp_path / f"events_{number}_local-1").write_bytes(b"".join(part))
    log = _read(tmp_path)
    assert log.runs == _read(PLAIN).runs and log.warnings == ()


def test_a_file_that_is_missing_is_said(tmp_path: Path):
    for number in (2, 4):
        (tmp_path / f"events_{number}_a").write_bytes(PLAIN.read_bytes())
    first, second = rolling_log(_place(tmp_path), [p.name for p in tmp_path.iterdir()]).warnings
    assert first.endswith("is incomplete: event log files before events_2_a are missing")
    assert second.endswith("lacks event log files between events_2_a and events_4")


def test_a_rolling_log_is_told_by_its_files():
    assert is_rolling(["appstatus_x", "events_1_x.zstd"])
    assert not is_rolling(["events.json", "events_x_1", "appstatus_x"])


@pytest.mark.parametrize("name", ["gzip", "lz4", "zstd"])
def test_a_log_that_somebody_packed_again_is_read(name: str):
    data = PLAIN.read_bytes()
    packed = gzip.compress(data) if name == "gzip" else _frame(data, name)
    assert packing(packed) == name
    files = event_log_of(packed, "again")
    assert files is not None and files.read().runs == _read(PLAIN).runs


def _frame(data: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(data)
    found: bytes = sink.getvalue().to_pybytes()
    return found


@pytest.mark.parametrize("codec", ["lz4", "snappy", "zstd"])
def test_streams_that_follow_each_other_are_one(codec: str):
    data = (ROOT / codec / f"local-1.{codec}").read_bytes()
    files = event_log_of(data + data, "twice")
    assert files is not None
    log = files.read()
    assert log.events == 2 * _read(PLAIN).events and log.warnings == ()


PACKED = {c: (ROOT / c / f"local-1.{c}").read_bytes() for c in ("lz4", "snappy", "zstd")}
EVENTS = len(PLAIN.read_bytes().splitlines())


def first_block_of_zstd(data: bytes) -> int:
    """Where the first block ends: after magic, descriptor and window come three bytes of header."""
    return 9 + (int.from_bytes(data[6:9], "little") >> 3)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(PACKED)), st.floats(0, 1))
def test_any_cut_is_one_warning_and_loses_nothing_before_it(codec: str, share: float):
    data = PACKED[codec]
    cut = int(len(data) * share)
    files = event_log_of(data[:cut], "cut")
    if files is None:
        # Not even the first block is whole.
        assert cut < (first_block_of_zstd(data) if codec == "zstd" else len(data) / 3)
        return
    log = files.read()
    assert 0 < log.events <= EVENTS
    assert len(log.warnings) == (0 if cut == len(data) or log.events == EVENTS else 1) or (
        log.events == EVENTS and len(log.warnings) <= 1
    )


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(PACKED)), st.floats(0, 1), st.binary(min_size=1, max_size=30))
def test_damage_in_the_middle_never_raises(codec: str, share: float, junk: bytes):
    data = bytearray(PACKED[codec])
    at = int(len(data) * share)
    data[at : at + len(junk)] = junk
    files = event_log_of(bytes(data), "damaged")
    if files is not None:
        files.read()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(PLAIN.read_bytes())))
def test_a_plain_log_cut_at_any_byte_keeps_every_whole_line(cut: int):
    data = PLAIN.read_bytes()[:cut]
    files = event_log_of(data, "cut")
    whole = data.count(b"\n")
    if files is None:
        assert whole == 0
        return
    log = files.read()
    assert whole <= log.events <= whole + 1
    assert len(log.warnings) == (log.events == whole and not data.endswith(b"\n"))


def test_a_cut_zstd_frame_gives_all_that_was_flushed():
    """Decompressing whole and cutting the text afterwards is what must come out."""
    data = PACKED["zstd"]
    files = event_log_of(data[: len(data) * 2 // 3], "cut")
    assert files is not None
    log = files.read()
    # Spark closes a frame at each flush: two thirds of three frames.
    assert log.events >= EVENTS // 3
    assert log.runs[0] == _read(PLAIN).runs[0]


def test_a_pipe_is_read_once(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert event_log(_place(pipe)) is None
    writer = threading.Thread(target=lambda: pipe.write_bytes(PLAIN.read_bytes()), daemon=True)
    writer.start()
    from headgate.usecases.evidence.query_rows import queries_of
    from headgate.usecases.evidence.read_version import gather

    assert len(queries_of(gather([str(pipe)]))) == 3
    writer.join(PATIENCE)


@pytest.mark.parametrize("data", [b"", b"\0" * 99, b"\x28\xb5\x2f\xfdxx", b"LZ4Block", b"\x1f\x8b"])
def test_what_holds_no_event_is_no_log(data: bytes):
    assert event_log_of(data, "x") is None


def test_an_address_with_a_scheme_is_read():
    place = find(PLAIN.as_uri())
    assert place is not None
    files = event_log(place)
    assert files is not None and files.read().runs == _read(PLAIN).runs
