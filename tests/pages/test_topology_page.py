"""The Topology page of a pipeline that is registered and of which nothing is stored yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    assert "say with `query` in headgate.toml which one shop is" in sentence


def test_a_checkpoint_that_is_not_there_is_named(register, open_page, tmp_path):
    register('checkpoint = "ck"')
    at = open_page("topology", pipeline="shop")
    assert said(at) == [f"{tmp_path}/ck is not there: no file and no folder has that path"]


def test_nothing_wrong_is_no_problem(register, open_page, tmp_path):
    (tmp_path / "watch").mkdir()
    register('watch = "watch"')
    assert said(open_page("topology", pipeline="shop")) == []
