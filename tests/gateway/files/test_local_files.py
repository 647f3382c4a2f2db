"""What is no plain file: pipes, devices, links to themselves, what the kernel keeps."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.gateway.files import evidence_files
from headgate.usecases.evidence.read_version import read_version
from support.waiting import PATIENCE

PLAN = (
    "== Physical Plan ==\nFileScan json [k#1] Batched: false, DataFilters: [], Format: JSON, "
    "Location: InMemoryFileIndex(1 paths)[file:/data/in], PartitionFilters: [], "
    "PushedFilters: [], ReadSchema: struct<k:string>\n"
)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(pipe, monkeypatch):
    monkeypatch.setattr(evidence_files, "PATIENCE_S", 0.2)
    with pytest.raises(EvidenceError, match="pipe can't be read: the pipe delivered no data"):
        read_version([str(pipe)])


def test_a_pipe_whose_writer_comes_late_is_read(pipe):
    def write():
        # After the reader began to wait, and before its patience ends.
        time.sleep(0.3)
        pipe.write_text(PLAN)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert len(read_version([str(pipe)]).topology.nodes) == 2
    writer.join(PATIENCE)


def test_a_shells_own_pipe_is_waited_for(monkeypatch):
    monkeypatch.setattr(evidence_files, "PATIENCE_S", 0.1)
    reader, writer = os.pipe()

    def write():
        # Longer than the patience with other pipes.
        time.sleep(0.5)
        with os.fdopen(writer, "w") as stream:
            stream.write(PLAN)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert len(read_version([f"/dev/fd/{reader}"]).topology.nodes) == 2
    thread.join(PATIENCE)
    os.close(reader)


def test_what_is_no_file_in_a_folder_is_a_warning(pipe, tmp_path):
    (tmp_path / "plan.txt").write_text(PLAN)
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "self").symlink_to(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        version = read_version([str(tmp_path)])
    assert [w.removeprefix(f"{tmp_path}/") for w in version.warnings] == [
        "loop can't be read: Too many levels of symbolic links",
        "pipe can't be read: the path isn't a regular file",
        "s can't be read: No such device or address",
        "self (a folder) has an unknown format and was not read",
        "zero can't be read: the path isn't a regular file",
    ]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_evidence(device):
    with pytest.raises(EvidenceError, match="the path is a device"):
        read_version([device])


def test_an_empty_file_has_an_end(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(EvidenceError, match="empty is empty"):
        read_version([str(tmp_path / "empty")])
