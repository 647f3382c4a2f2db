"""Small files that unpack to gigabytes: what comes before is kept, and reading stops soon."""

from __future__ import annotations

import gzip
import io
import struct
import time
import zipfile

import pyarrow as pa
import pytest

from headgate.gateway.files.decompress import Limits
from headgate.gateway.spark.event_logs import event_log_of, zipped_logs
from support.event_logs import PLAIN

LOG = PLAIN.read_bytes()
BLOCK = 1 << 20


def _zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


def _lz4(data):
    """As lz4-java's LZ4BlockOutputStream writes it, which Spark's codec is."""
    codec, out = pa.Codec("lz4_raw"), bytearray()
    for at in range(0, len(data), BLOCK):
        plain = data[at : at + BLOCK]
        packed = codec.compress(plain, asbytes=True)
        out += struct.pack("<8sBiiI", b"LZ4Block", 0x26, len(packed), len(plain), 0) + packed
    return bytes(out)


def _snappy(data):
    """As snappy-java's SnappyOutputStream writes it."""
    codec, out = pa.Codec("snappy"), bytearray(b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1))
    for at in range(0, len(data), BLOCK):
        packed = codec.compress(data[at : at + BLOCK], asbytes=True)
        out += struct.pack(">i", len(packed)) + packed
    return bytes(out)


PACKINGS = {"zstd": _zstd, "gzip": gzip.compress, "lz4": _lz4, "snappy": _snappy}
BLANK_LINES = b"\n" * (8 << 20)
LIMITS = {
    "size": (Limits(size=4 << 20), "Headgate unpacks at most 4 MiB"),
    "ratio": (
        Limits(free=1 << 20, ratio=8),
        "Headgate unpacks at most 8 times the packed size",
    ),
    "seconds": (Limits(seconds=-1), "Headgate unpacks for at most -1 s"),
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_within_the_limits_everything_is_read(packing):
    assert event_log_of(PACKINGS[packing](LOG), "log").read().warnings == ()


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("packing", PACKINGS)
def test_reading_stops_at_a_limit_and_keeps_what_was_read(packing, limit):
    limits, said = LIMITS[limit]
    whole = event_log_of(LOG, "log").read()
    log = event_log_of(PACKINGS[packing](LOG + BLANK_LINES), "log").read(limits=limits)
    (warning,) = log.warnings
    assert f"MiB: {said}" in warning
    assert warning.startswith("log:")
    read = [r.run_id for r in log.runs]
    assert read == [r.run_id for r in whole.runs][: len(read)]
    assert read if limit == "seconds" else len(read) == len(whole.runs)


def test_a_gigabyte_of_blank_lines_ends_soon():
    """Within the limits that hold for everybody; 2 MB unpack to it."""
    packed = _zstd(LOG) + 16 * _zstd(b"\n" * (64 << 20))
    begun = time.process_time()
    log = event_log_of(packed, "log").read()
    assert time.process_time() - begun < 30
    assert log.runs
    assert any("stopped after" in w for w in log.warnings)


@pytest.mark.slow
def test_short_lines_end_in_time():
    limits, junk = Limits(seconds=0.5), LOG + b"x\n" * (6 << 20)
    begun = time.thread_time()
    log = event_log_of(PACKINGS["gzip"](junk), "log").read(limits=limits)
    assert time.thread_time() - begun < 5
    assert log.runs
    assert any("Headgate unpacks for at most 0.5 s" in w for w in log.warnings)


def test_an_archive_of_a_history_server_is_bounded():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("local-1", LOG + BLANK_LINES)
    with zipfile.ZipFile(out) as archive:
        log = zipped_logs(archive, "a.zip").read(limits=Limits(free=1 << 20, ratio=8))
    assert log.runs
    assert any("at most 8 times the packed size" in w for w in log.warnings)
