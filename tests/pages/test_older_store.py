"""A store that an older Headgate made: one sentence everywhere, and no traceback."""

import sqlite3

import pytest
import streamlit as st
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.store.migrate import FIRST
from headgate.worker import main as worker

pytestmark = pytest.mark.slow

SAID = (
    "is from an older Headgate (schema revision 0006",
    f"upgrades start at revision {FIRST}",
    "move ",
    "headgate.db*",
)


@pytest.fixture
def older(seeded):
    """A store with the tables that the first migrations made, and their revision."""
    with sqlite3.connect(seeded.parent / ".headgate" / "headgate.db") as connection:
        connection.execute("ALTER TABLE locations RENAME TO places")
        connection.execute("UPDATE alembic_version SET version_num = '0006'")
    st.cache_resource.clear()
    return seeded


@pytest.mark.parametrize("command", [["runs"], ["requests"], ["plan", "pause", "city-alerts"]])
def test_the_command_line(older, command):
    done = CliRunner().invoke(headgate, ["--config", str(older), *command])
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: the store sqlite:///")
    assert all(words in done.stderr for words in SAID)


def test_the_worker(older, capsys):
    assert worker.main(["--config", str(older), "--idle-exit", "1"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Error: the store sqlite:///") and shown.count("\n") == 1
    assert all(words in shown for words in SAID)


@pytest.mark.parametrize("page", ["topology", "compare", "reprocess", "runs", "requests"])
def test_the_console(older, open_page, page):
    at = open_page(page)
    assert not at.exception
    (shown,) = (error.value.replace("\\", "") for error in at.error)
    assert all(words in shown for words in SAID)
