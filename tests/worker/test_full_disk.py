"""A worker that finds no space for its files says so in its last line."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

from headgate.errors import SetupError
from headgate.gateway.process.child_process import Program, launch
from headgate.local.up import explained
from headgate.store import open_store
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow

CONFIG = '[[pipeline]]\nname = "orders"\nengine = "spark"\ncheckpoint = "/none"\n'


def worker(folder, limit):
    """Run a worker whose files may have `limit` bytes."""
    config = folder / "headgate.toml"
    config.write_text(CONFIG)

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    argv = [sys.executable, "-m", "headgate.worker.main", "--config", str(config)]
    return subprocess.run(
        [*argv, "--idle-exit", "0.1"],
        preexec_fn=limited,
        # The limit holds for compiled modules, too, and a half-written one is read again.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_store_that_can_not_be_made_is_one_sentence(tmp_path):
    ended = worker(tmp_path, 20_000)
    assert ended.returncode == 4
    assert ended.stderr.splitlines()[-1].startswith("Error: the store sqlite:")


def test_workflows_that_can_not_be_stored_are_one_sentence(tmp_path):
    file = tmp_path / ".headgate" / "headgate.db"
    open_store(f"sqlite:///{file}").close()
    ended = worker(tmp_path, file.stat().st_size + 8_192)
    assert ended.returncode == 4
    assert ended.stderr.splitlines()[-1].startswith("Error: the store sqlite:")


def test_the_last_words_of_a_child_name_a_full_disk(tmp_path, monkeypatch):
    """The log can't hold the reason: it lies on that disk."""
    program = Program(name="worker", argv=("true",), log=tmp_path / "logs" / "worker.log")
    child = launch(program)
    child.finish()
    assert child.last_words() == ""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    assert child.last_words().startswith(f"only 0 KiB left on the disk of {tmp_path / 'logs'}")


def test_a_home_that_can_not_be_written_is_our_error(tmp_path):
    with pytest.raises(SetupError, match="No space left on device"), explained(tmp_path):
        raise OSError(28, "No space left on device", str(tmp_path / "up.lock"))
    with pytest.raises(OSError, match="no route"), explained(tmp_path):
        raise OSError(113, "no route")
