"""A commit that is checked out leaves nothing behind, even if its process is killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from headgate.gateway.process.git import repository_of

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
KILLED = """
import os, signal, sys
from pathlib import Path
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.process.git import repository_of
repository = repository_of(Path(sys.argv[1]))
with scratch_folder("headgate-gate-", Path(sys.argv[2])) as scratch:
    with repository.checked_out("HEAD", scratch / "base"):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "job.py").write_text("x = 1\n")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        subprocess.run((*GIT, *arguments), cwd=folder, check=True)
    return folder


def listed(clone: Path) -> list[str]:
    told = subprocess.check_output((*GIT, "worktree", "list", "--porcelain"), cwd=clone, text=True)
    return [line.split()[1] for line in told.splitlines() if line.startswith("worktree ")]


def test_what_a_killed_check_left_is_forgotten_and_other_worktrees_stay(clone, tmp_path):
    own = tmp_path / "own" / "base"
    subprocess.run((*GIT, "worktree", "add", "-q", str(own), "-b", "b"), cwd=clone, check=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    killed = subprocess.run(
        (sys.executable, "-c", KILLED, str(clone), str(scratch)),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL and len(listed(clone)) == 3
    # The next check's scratch folder sweeps the one that was left.
    for left in scratch.iterdir():
        subprocess.run(("rm", "-r", str(left)), check=True)
    subprocess.run(("mv", str(own), f"{own}-away"), check=True)
    with (
        tempfile.TemporaryDirectory(prefix="headgate-gate-", dir=scratch) as folder,
        repository_of(clone).checked_out("HEAD", Path(folder) / "base") as base,
    ):
        assert (base / "job.py").is_file()
    assert listed(clone) == [str(clone), str(own)]
