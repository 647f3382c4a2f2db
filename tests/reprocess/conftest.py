"""A pipeline made of shell commands and a checkpoint folder, and a run over it that can crash."""

from __future__ import annotations

import itertools

import pytest
from pyarrow import fs

from headgate.gateway.files import remote_connect
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios import build
from headgate.reprocess.scenarios.shared.shared_commands import with_shared_stops
from headgate.reprocess.steps.base import verify_stopped
from headgate.reprocess.steps.process import stop_start
from headgate.store import open_store
from headgate.text.risk import Risk
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


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """Checks of each plan that a scenario's steps and risks are those that it declares."""
    made: list[tuple[str, Risk]] = []
    speak = Risk.__call__

    def spoken(risk: Risk, **values: object) -> str:
        text = speak(risk, **values)
        made.append((text, risk))
        return text

    def checked(plan: Plan, inspector: Inspector) -> Plan:
        plan = with_shared_stops(plan, inspector)
        scenario = build._scenario(plan.scenario)
        assert {step.action for step in plan.steps} <= set(scenario.steps)
        risks = {*scenario.risks(), *build.RISKS}
        said = [text for text, risk in made if risk in risks]
        for risk in plan.risks:
            # A chain puts the pipeline's name first, and leaves out what only another command has.
            texts = (risk, risk.partition(": ")[2])
            found = any(all(p in one for p in t.split(". ")) for t in texts if t for one in said)
            assert found, f"{plan.scenario} doesn't declare the risk: {risk}"
        return plan

    monkeypatch.setattr(Risk, "__call__", spoken)
    monkeypatch.setattr(build, with_shared_stops.__name__, checked)
