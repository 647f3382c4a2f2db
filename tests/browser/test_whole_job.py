"""The main job, as a user does it: the whole stack, the real pages, a reset, its way back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from browser.conftest import settle
from support.ports import free_port
from support.running_stack import Stack
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.long]
SPARK, GROUP, READER = "orders-by-city", "alert-mailer", "revenue-alerts"
REFUSED = "headgate.local.demo.orders_by_city:v2"
AS_JSON = ("--format", "json")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    # The tests of the stack itself may start one at the same moment: it finds the usual port free.
    home = tmp_path_factory.mktemp("job") / "demo"
    running = Stack(home, "--port", str(free_port()))
    try:
        running.wait(running.works)
        yield running
    finally:
        if running.process.poll() is None:
            running.end(2)


@pytest.fixture
def console(stack):
    """The stack's own console, in place of the seeded one."""
    return stack.address("Console")


def headgate(stack: Stack, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headgate.cli.main"]
    command += ["--config", str(stack.home / "headgate.toml"), *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def query_id(home: Path) -> str:
    return json.loads((home / "checkpoints" / SPARK / "metadata").read_text())["id"]


def newest_batch(home: Path) -> int:
    names = (home / "checkpoints" / SPARK / "commits").glob("[0-9]*")
    return max((int(p.name) for p in names), default=-1)


def node(page, node_id):
    return page.locator(f'.graph .node[data-id="{node_id}"]')


def run_from_scratch(page, shoot, name):
    page.locator(".hg-verdict").first.wait_for()
    shoot(page, f"job-{name}-plan")
    page.get_by_role("button", name="Run plan …").click()
    page.get_by_text("I have read the plan").click()
    page.get_by_role("button", name="Start run").click()
    ended(page, "done", "^from-scratch$")
    shoot(page, f"job-{name}-run")


def ended(page, state, title):
    """Wait for the run's end; one that went otherwise says why at once.

    The state is read beside the run's `title`: what the page showed before may stand below for a
    moment, with the state of another run.
    """
    shown = page.locator("div:has(> .hg-kind)").filter(has=page.get_by_text(re.compile(title)))
    ends = shown.locator(".hg-pill", has_text=re.compile("^(done|failed|refused|cancelled)$"))
    ends.first.wait_for()
    assert ends.first.inner_text() == state, page.locator(".hg-steps").first.inner_text()


def undo(page, shoot, name):
    first = page.url
    page.get_by_role("button", name="Undo run …").click()
    page.get_by_role("button", name="Start undo").click()
    page.wait_for_url(lambda url: url != first)
    ended(page, "done", "^Undo of ")
    shoot(page, f"job-{name}-undone")


def test_the_landscape_shows_the_running_business(stack, visit, shoot):
    for scheme in ("light", "dark"):
        page = visit("?level=pipelines", scheme=scheme)
        for topic in ("orders", "payments", "customers", "city-revenue"):
            node(page, f"topic:{topic}").wait_for()
        shoot(page, f"job-landscape-{scheme}")
    node(page, "topic:city-revenue").click()
    panel = page.locator(".st-key-details")
    panel.get_by_text(SPARK).first.wait_for()
    panel.get_by_text(READER).first.wait_for()


def test_a_click_shows_what_a_state_store_holds(stack, visit, shoot):
    page = visit(f"topology?pipeline={SPARK}")
    stores = page.locator('.graph .node[aria-label^="State store"]')
    stores.first.wait_for()
    shoot(page, "job-topology-opened")
    page.get_by_role("button", name="Show everything").click()
    settle(page)
    stores.first.click()
    panel = page.locator(".st-key-details")
    panel.get_by_text("HDFSBackedStateStoreProvider").or_(
        panel.get_by_text("RocksDBStateStoreProvider")
    ).first.wait_for()
    shoot(page, "job-topology")


def test_the_two_versions_are_compared(stack, visit, shoot):
    until(lambda: headgate(stack, "topology", SPARK).returncode == 0)
    captured = headgate(stack, "capture", REFUSED, "--pipeline", SPARK)
    assert captured.returncode == 0, captured.stderr
    for scheme in ("light", "dark"):
        page = visit(f"compare?pipeline={SPARK}", scheme=scheme)
        verdict = page.locator(".hg-verdict").first
        verdict.wait_for()
        assert "fails to start" in verdict.inner_text().lower()
        # The findings' sentences come a moment after their list.
        window = page.locator(".st-key-details").get_by_text(re.compile("window", re.IGNORECASE))
        window.first.wait_for()
        shoot(page, f"job-compare-{scheme}")
    ran = str(int(re.search(r"@(\d+)", captured.stderr + captured.stdout)[1]) - 1)
    gate = headgate(stack, "diff", "--before", f"{SPARK}@{ran}", "--after", SPARK, *AS_JSON)
    assert gate.returncode == 1, gate.stderr
    report = json.loads(gate.stdout)
    outcomes = {f["outcome"] for f in report["findings"]}
    assert report["outcome"] == "refuses"
    assert {"refuses", "silently_wrong", "resumes"} <= outcomes


def test_a_query_is_reset_and_the_reset_undone(stack, visit, shoot):
    until(lambda: newest_batch(stack.home) > 2)
    before, old = query_id(stack.home), newest_batch(stack.home)
    page = visit(f"reprocess?pipeline={SPARK}&scenario=from-scratch")
    run_from_scratch(page, shoot, "spark")
    until(lambda: newest_batch(stack.home) >= 0 and query_id(stack.home) != before)
    assert stack.control("status", SPARK).returncode == 0

    undo(page, shoot, "spark")
    assert query_id(stack.home) == before
    until(lambda: newest_batch(stack.home) > old)
    assert stack.control("status", SPARK).returncode == 0


def test_a_group_is_reset_and_the_reset_undone(stack, visit, shoot):
    page = visit(f"reprocess?pipeline={GROUP}&scenario=from-scratch")
    run_from_scratch(page, shoot, "group")
    undo(page, shoot, "group")
    page = visit("runs")
    page.locator(".hg-head").wait_for()
    shoot(page, "job-runs")
    runs = json.loads(headgate(stack, "runs", *AS_JSON).stdout)["runs"]
    assert [r["state"] for r in runs] == ["done"] * 4
