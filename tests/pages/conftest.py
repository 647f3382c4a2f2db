"""The console as `AppTest` sees it: no browser, no script, but every page as it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from support.console_seed import seed
from support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def seeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry with three pipelines and a store with three versions; no Kafka."""
    file = seed(tmp_path)
    monkeypatch.setenv("HEADGATE_CONFIG", str(file))
    return file


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a configuration nor a store."""
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page by name, with query parameters: `open_page("compare", before="1")`."""

    def run(name: str, **params: str) -> AppTest:
        st.cache_data.clear()
        at = AppTest.from_file(str(ROOT / "console.py"), default_timeout=PATIENCE).run()
        for key, value in params.items():
            at.query_params[key] = value
        return at.switch_page(f"pages/{name}.py").run()

    return run
