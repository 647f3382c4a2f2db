"""The console and the command line with many pipelines, runs and versions, beside a real broker.

The peer of a page is a page of Streamlit's that shows one line, served and visited in the same
way: what is above it is our own doing. Cold is the first visit of a new server, warm a later one
in a new window; the clock runs until the first node, or the table, is on screen. The peer of
`headgate runs` is an interpreter that imports click.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Row, least_of

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.process.free_ports import free_port
from headgate.store import open_store
from headgate.store.tables import RUNS as RUNS_TABLE

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.conftest import FLAGS, _wait  # noqa: E402
from support.many_pipelines import topic_name, write  # noqa: E402

COMMAND = str(Path(sys.executable).with_name("headgate"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TOPICS, RUNS = 312, 5_000
COLD, WARM = 3, 5
GRAPH, TABLE, LINE = ".graph .node, .graph .cluster", "[data-testid=stDataFrame]", "text=nothing"
BARE = 'import streamlit as st\n\nst.html("nothing")\n'
# Pipelines, and the seconds that a warm and a cold visit may take.
LANDSCAPES = ((300, 0.8, 2.0), (2_000, 2.0, 4.0))


def rows() -> Iterator[Row]:
    """Yield `headgate runs`, the Runs page and two landscapes."""
    with (
        tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder,
        running_broker(Path(folder) / "kafka") as broker,
    ):
        _create_topics(broker)
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        peer = _visits(bare, Path(folder), "", LINE)
        for pipelines, warm, cold in LANDSCAPES:
            home = _home(Path(folder) / str(pipelines), pipelines, broker)
            subject = f"landscape of {pipelines:,} pipelines and {TOPICS} topics"
            yield from _page(subject, _visits(ROOT / "app.py", home, "", GRAPH), peer, warm, cold)
        runs = f"Runs page of {RUNS:,} runs"
        yield from _page(runs, _visits(ROOT / "app.py", home, "runs", TABLE), peer, 1.0, 1.0)
        yield _listed(home)


def _create_topics(broker: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker})
    new = [NewTopic(topic_name(n), 1, 1) for n in range(TOPICS)]
    for made in admin.create_topics(new).values():
        made.result(60)


def _home(folder: Path, pipelines: int, broker: str) -> Path:
    """Write a registry, a version of each pipeline, and the runs; return the folder."""
    folder.mkdir()
    file = write(folder, pipelines=pipelines, topics=max(TOPICS, pipelines))
    file.write_text(f'[kafka]\nbootstrap_servers = "{broker}"\n\n{file.read_text()}')
    store = open_store(f"sqlite:///{folder / '.headgate' / 'headgate.db'}")
    same = {"scenario": "from-scratch", "plan_hash": "h", "plan": "x" * 20_000, "state": "done",
            "created_at": "2026-11-01T00:00:00+00:00", "created_by": "ann", "attempt": 1,
            "cancel_requested": False}  # fmt: skip
    with store.database.writing() as connection:
        rows = [
            {**same, "id": f"r{n}", "pipeline": f"pipeline-{n % pipelines}"} for n in range(RUNS)
        ]
        connection.execute(sa.insert(RUNS_TABLE), rows)
    store.close()
    return folder


def _listed(home: Path) -> Row:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"HEADGATE_CONFIG": str(home / "headgate.toml")}
    commands = ((COMMAND, "runs"), (sys.executable, "-c", "import click"))

    def started(command: tuple[str, ...]) -> None:
        subprocess.run(command, check=True, env=env, capture_output=True)

    for command in commands:
        started(command)
    ours, peer = least_of([partial(started, c) for c in commands], 15)
    return Row(subject=f"headgate runs, {RUNS:,} runs", ours=ours, peer=peer, met=ours < 0.4,
               goal="under 400 ms", peer_is="import click")  # fmt: skip


def _page(
    subject: str,
    ours: tuple[float, float],
    peer: tuple[float, float],
    warm: float,
    cold: float,
) -> Iterator[Row]:
    for word, took, bare, goal in zip(("cold", "warm"), ours, peer, (cold, warm), strict=True):
        yield Row(
            subject=f"{subject}, {word}",
            ours=took,
            peer=bare,
            peer_is="a Streamlit page of one line",
            goal=f"under {goal:g} s on a quiet machine",
            met=took < goal,
        )


def _visits(app: Path, home: Path, path: str, wanted: str) -> tuple[float, float]:
    """Return the median seconds of a cold and of a warm visit."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser(), args=FLAGS)
        cold, warm = [], []
        for turn in range(COLD):
            with _served(app, home) as address:
                cold.append(_visit(browser, f"{address}/{path}", wanted))
                if turn == COLD - 1:
                    warm = [_visit(browser, f"{address}/{path}", wanted) for _ in range(WARM)]
        browser.close()
    return statistics.median(cold), statistics.median(warm)


def _visit(browser: Any, address: str, wanted: str) -> float:
    window = browser.new_context(viewport={"width": 1440, "height": 900})
    page = window.new_page()
    begun = time.perf_counter()
    page.goto(address)
    page.locator(wanted).first.wait_for(timeout=120_000)
    took = time.perf_counter() - begun
    window.close()
    return took


@contextmanager
def _served(app: Path, home: Path) -> Iterator[str]:
    """Serve a page as `headgate up` does; a server has answered before anybody visits it."""
    port = free_port()
    flags = {"address": "127.0.0.1", "port": port, "headless": "true", "fileWatcherType": "none"}
    argv = [sys.executable, "-m", "streamlit", "run", str(app)]
    argv += [f"--server.{name}={value}" for name, value in flags.items()]
    env = {**os.environ, "HEADGATE_CONFIG": str(home / "headgate.toml")}
    with (home / "console.log").open("ab") as log:
        server = subprocess.Popen(argv, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


def _browser() -> str:
    named = os.environ.get("HEADGATE_CHROMIUM")
    found = named or next((path for b in BROWSERS if (path := shutil.which(b))), None)
    if found is None:
        raise SystemExit("bench: no Chromium here: install it, or set HEADGATE_CHROMIUM")
    return found
