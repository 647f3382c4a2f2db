"""A twin run from the Compare page: progress at once, then the counterexample and its node."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.spark]

QUERIES = Path(__file__).parents[1] / "integration" / "rehearsal" / "twin_queries.py"
REGISTRY = """
[[pipeline]]
name = "sums"
engine = "spark"
entry_point = "twin_queries:swapped"
evidence = ["sums.headgate.json"]
"""
COMMAND = str(Path(sys.executable).with_name("headgate"))


@pytest.fixture
def own_console(tmp_path, serving):
    """A console whose pipeline has two captured versions: the second exchanges two measures."""
    shutil.copy(QUERIES, tmp_path)
    file = tmp_path / "headgate.toml"
    file.write_text(REGISTRY)
    (tmp_path / "sums.headgate.json").write_text("{}")
    for version in ("base", "swapped"):
        capture = ("capture", f"twin_queries:{version}", "--pipeline", "sums", "--config", file)
        subprocess.run((COMMAND, *map(str, capture)), cwd=tmp_path, check=True, timeout=300)
    yield from serving(file)


def test_the_counterexample_is_shown_with_its_node(own_console, visit, shoot):
    page = visit("compare?pipeline=sums&before=1&after=2", at=own_console, size=(1440, 1100))
    page.get_by_text("Rehearsal on a copy of the checkpoint, or on generated rows").click()
    page.get_by_role("button", name="Start rehearsal").click()
    begun = time.monotonic()
    page.get_by_text("building twin_queries:base").first.wait_for()
    print(f"progress after {time.monotonic() - begun:.1f} s")
    page.get_by_text("Counterexample").first.wait_for(timeout=300_000)
    print(f"counterexample after {time.monotonic() - begun:.1f} s")
    page.get_by_text("stored by the new version").first.wait_for(state="attached")
    # The node is selected by itself if nothing else is.
    page.wait_for_url("**node=aggregate**")
    page.get_by_role("button", name="Select node in graph").wait_for()
    page.get_by_text("Counterexample").first.scroll_into_view_if_needed()
    shoot(page, "twin-light")
    page.emulate_media(color_scheme="dark")
    shoot(page, "twin-dark")
