"""A pipeline made of shell commands and a checkpoint folder, and a run over it that can crash."""

from __future__ import annotations

import itertools

import pytest
from pyarrow import fs

from headgate.gateway.files import remote_connect
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.steps.base import verify_stopped
from headgate.reprocess.steps.process import stop_start
from headgate.store import open_store
from support.crashing import COMMANDS, QUERY_ID, Lab
from support.remote_lab import START, remote_lab


@pytest.fixture
def quick(monkeypatch):
    """Waits that a person would want, not a test."""
    for name in ("QUIET_MIN", "QUIET_MAX"):
        monkeypatch.setattr(verify_stopped, name, 0.5)
    for name in ("SIGN_SECONDS", "GRACE_SECONDS"):
        monkeypatch.setattr(stop_start, name, 0.5)


@pytest.fixture
def lab(tmp_path, quick):
    """Makes labs, each in a folder of its own, whose query runs and has a checkpoint."""
    numbers = itertools.count()
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")

    def make(commands: Commands = COMMANDS) -> Lab:
        folder = tmp_path / str(next(numbers))
        checkpoint = folder / "ck"
        (checkpoint / "offsets").mkdir(parents=True)
        (checkpoint / "commits").mkdir()
        (checkpoint / "metadata").write_text(f'{{"id":"{QUERY_ID}"}}')
        head = 'v1\n{"batchTimestampMs":1}\n{"logOffset":1}'
        (checkpoint / "offsets" / "4").write_text(head)
        (checkpoint / "commits" / "4").write_text("v1\n{}")
        (folder / "running").touch()
        pipeline = Pipeline(
            name="q", engine=Engine.SPARK, checkpoint=str(checkpoint), commands=commands
        )
        registry = Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,))
        return Lab(folder, registry, store)

    yield make
    store.close()


@pytest.fixture
def remote(tmp_path, quick, monkeypatch):
    """Makes labs whose checkpoint is on a remote file system, each with a bucket of its own."""
    numbers = itertools.count()
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")

    def opened(found, _settings):
        folder = tmp_path / found.host.removeprefix("b") / "store"
        below = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        return below, f"{found.host}/{found.path}"

    monkeypatch.setitem(remote_connect._OPEN, "s3", opened)
    yield lambda start=START: remote_lab(tmp_path, next(numbers), store, start)
    store.close()
