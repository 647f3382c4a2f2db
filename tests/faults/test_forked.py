"""Pipelines of a matrix outlive the worker that started them, and not the matrix."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.waiting import until

_ASKER = """
import subprocess, sys
from pathlib import Path
from scenes.forked import Forks

folder = Path(sys.argv[1])
with Forks(folder) as forks:
    below = folder / "scene"
    below.mkdir()
    pipeline = "sleep 600 & echo $! > pid"
    subprocess.run(pipeline, shell=True, cwd=below, start_new_session=True, check=True)
    # Once it serves, it is asked for one process that ends at once.
    forks.start("--version", folder=below, output=below / "out").wait()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_what_works_below_the_folder_ends_with_who_is_killed(tmp_path):
    tests = str(Path(__file__).parents[1])
    asker = subprocess.Popen(
        [sys.executable, "-c", _ASKER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": tests},
    )
    assert asker.stdout.readline() == "ready\n"
    status = Path("/proc", (tmp_path / "scene" / "pid").read_text().strip(), "status")
    assert "sleep" in status.read_text()
    asker.kill()
    asker.wait()
    until(lambda: not _runs(status))


def _runs(status):
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False
