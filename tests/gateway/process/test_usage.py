"""Memory and disk of a started program are bounded."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.errors import LimitError
from headgate.gateway.process.child_process import descendants
from headgate.gateway.process.usage import Limits, bytes_below, memory_of
from support.waiting import until

ROOMY = 1 << 40


def test_bytes_of_all_files_count_and_links_do_not_lead_away(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "f").write_bytes(b"x" * 1000)
    (tmp_path / "g").write_bytes(b"x" * 500)
    (tmp_path / "away").symlink_to("/usr")
    assert 1500 <= bytes_below(tmp_path) < 1600
    assert bytes_below(tmp_path / "gone") == 0


def test_too_much_on_the_disk_is_said_once_a_second(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * 2000)
    limits = Limits(memory=ROOMY, disk=1000)
    with pytest.raises(
        LimitError, match=r"^a:b wrote .* to disk, but a twin run may write at most "
    ):
        limits.check("a:b", os.getsid(0), [tmp_path])
    limits.check("a:b", os.getsid(0), [tmp_path])


def test_memory_is_that_of_the_whole_session(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    inner = "import time; held = b'x' * (150 << 20); print(1, flush=True); time.sleep(900)"
    program = subprocess.Popen(
        (sys.executable, "-c", code, inner), start_new_session=True, stdout=subprocess.PIPE
    )
    try:
        assert program.stdout is not None and program.stdout.readline()
        assert memory_of(program.pid) > 150 << 20
        with pytest.raises(LimitError, match=r"^a:b needs .* of memory"):
            Limits(memory=100 << 20, disk=ROOMY).check("a:b", program.pid, [tmp_path])
    finally:
        os.killpg(program.pid, 9)
        program.wait()
    until(lambda: memory_of(program.pid) == 0)


def test_a_process_that_ends_meanwhile_counts_nothing(monkeypatch):
    def gone(self: Path, **_: object) -> str:
        raise ProcessLookupError(errno.ESRCH, "No such process", str(self))

    # The kernel answers so for a process that has ended and is still listed.
    for look in ("exists", "read_text"):
        monkeypatch.setattr(Path, look, gone)
    assert memory_of(os.getsid(0)) == 0
    assert descendants(os.getpid()) == []
