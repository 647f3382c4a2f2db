"""A twin run from the Compare page: progress at once, then the counterexample and its node."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.rehearsed import SOURCE, build_jar, description

pytestmark = pytest.mark.browser

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


@pytest.mark.spark
def test_the_counterexample_is_shown_with_its_node(own_console, visit, shoot):
    page = visit("compare?pipeline=sums&before=1&after=2", at=own_console, size=(1440, 1100))
    page.get_by_text("Rehearsal on a copy of the checkpoint, or on generated rows").click()
    page.get_by_role("button", name="Start rehearsal").click()
    begun = time.monotonic()
    page.get_by_text("building twin_queries:base").first.wait_for()
    print(f"progress after {time.monotonic() - begun:.1f} s")
    page.get_by_text("Counterexample").first.wait_for()
    print(f"counterexample after {time.monotonic() - begun:.1f} s")
    page.get_by_text("stored by the new version").first.wait_for(state="attached")
    # The node is selected by itself if nothing else is.
    page.wait_for_url("**node=aggregate**")
    page.get_by_role("button", name="Select node in graph").wait_for()
    page.get_by_text("Counterexample").first.scroll_into_view_if_needed()
    shoot(page, "twin-light")
    page.emulate_media(color_scheme="dark")
    shoot(page, "twin-dark")


STREAMS = """
[[pipeline]]
name = "counts"
engine = "kafka-streams"
group = "counts"
evidence = ["counts.headgate.json"]
old_jar = "old/app.jar"
jar = "new/app.jar"
entry_point = "Rehearsed#counts"
properties = "app.properties"
"""
STRINGS = "".join(
    f"default.{part}.serde=org.apache.kafka.common.serialization.Serdes$StringSerde\n"
    for part in ("key", "value")
)


@pytest.fixture
def streams_console(tmp_path, serving):
    """A console whose application has two jars: the new one counts into another store."""
    old = SOURCE.read_text()
    new = old.replace('counted(in(b), "counts")', 'counted(in(b), "tallies")', 1)
    (tmp_path / "app.properties").write_text(STRINGS)
    file = tmp_path / "headgate.toml"
    file.write_text(STREAMS)
    (tmp_path / "counts.headgate.json").write_text("{}")
    for name, source in (("old", old), ("new", new)):
        jar = build_jar(tmp_path / name, source)
        (tmp_path / f"{name}.txt").write_text(description(jar))
        words = ("capture", f"{name}.txt", "--pipeline", "counts", "--config", str(file))
        subprocess.run((COMMAND, *words), cwd=tmp_path, check=True, timeout=300)
    yield from serving(file)


@pytest.mark.kafka
def test_both_jars_of_an_application_run_on_the_same_records(streams_console, visit, shoot):
    page = visit("compare?pipeline=counts&before=1&after=2", at=streams_console, size=(1440, 1100))
    page.get_by_text("Rehearsal on a copy of the state directory").click()
    page.get_by_role("button", name="Start twin run").click()
    page.get_by_text("starting two local brokers").first.wait_for()
    page.get_by_text("Counterexample").first.wait_for(timeout=300_000)
    page.get_by_text("written from scratch").first.wait_for(state="attached")
    page.wait_for_url("**node=**")
    assert page.get_by_text("topology of the jar differs").count() == 0
    page.get_by_text("Counterexample").first.scroll_into_view_if_needed()
    shoot(page, "twin-streams-light")
    page.emulate_media(color_scheme="dark")
    shoot(page, "twin-streams-dark")


@pytest.mark.long
@pytest.mark.kafka
def test_a_twin_run_of_jars_ends_soon_after_its_cancellation(streams_console, visit):
    page = visit("compare?pipeline=counts&before=1&after=2", at=streams_console, size=(1440, 1100))
    page.get_by_text("Rehearsal on a copy of the state directory").click()
    page.get_by_role("button", name="Start twin run").click()
    page.get_by_text("running both versions on the records").first.wait_for()
    page.get_by_role("button", name="Cancel rehearsal").click()
    page.get_by_text("The rehearsal was cancelled.").wait_for()
    page.get_by_role("button", name="Start twin run").wait_for()
