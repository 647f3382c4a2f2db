"""The Topology page of a pipeline that is registered and of which nothing is stored yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headgate.usecases.context import open_context
from headgate.usecases.evidence.refresh_versions import refresh_versions

LOG = Path(__file__).parents[1] / "golden" / "event_logs" / "plain" / "local-1"


@pytest.fixture
def register(tmp_path, monkeypatch):
    def write(line):
        file = tmp_path / "headgate.toml"
        file.write_text(f'[[pipeline]]\nname = "shop"\nengine = "spark"\n{line}\n')
        monkeypatch.setenv("HEADGATE_CONFIG", str(file))

    return write


def said(at):
    return [re.sub(r"\\(.)", r"\1", error.value) for error in at.error]


def test_the_page_says_what_keeps_the_worker_from_storing_it(register, open_page):
    register(f'evidence = ["{LOG}"]')
    at = open_page("topology", pipeline="shop")
    assert not at.exception
    (sentence,) = said(at)
    assert "Set `query` of shop in headgate.toml" in sentence


def test_a_checkpoint_that_is_not_there_is_named(register, open_page, tmp_path):
    register('checkpoint = "ck"')
    at = open_page("topology", pipeline="shop")
    assert said(at) == [f"{tmp_path}/ck not found: check the path"]


def test_nothing_wrong_is_no_problem(register, open_page, tmp_path):
    (tmp_path / "watch").mkdir()
    register('watch = "watch"')
    assert said(open_page("topology", pipeline="shop")) == []


def test_the_history_calls_running_only_what_is_proven_to_run(register, open_page, tmp_path):
    register(f'evidence = ["{LOG}"]\nquery = "orders"')
    refresh_versions(open_context(str(tmp_path / "headgate.toml")))
    at = open_page("topology", pipeline="shop", view="history")
    shown = " ".join(str(getattr(h, "value", None) or getattr(h, "body", "")) for h in at.html)
    assert "last seen" in shown and ">running<" not in shown
