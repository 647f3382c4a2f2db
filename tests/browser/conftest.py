"""The real console, served by Streamlit over a seeded store, in the machine's own browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from browser.live_cluster import fill_cluster
from support.console_seed import add_stopped_pipeline, seed
from support.ports import free_port
from support.waiting import PATIENCE, until

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "tests" / "screenshots"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LARGE, SMALL = (1680, 920), (1280, 800)
LOOKS = [("light", LARGE), ("dark", LARGE), ("light", SMALL), ("dark", SMALL)]


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the console reads: four pipelines, three versions, no Kafka."""
    file = seed(tmp_path_factory.mktemp("console"))
    add_stopped_pipeline(file)
    return file


@pytest.fixture
def worker(registry: Path) -> Iterator[None]:
    """A worker that executes what the console asks for."""
    command = [sys.executable, "-m", "headgate.worker.main", "--config", str(registry)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield
    running.terminate()
    running.wait(PATIENCE)


@pytest.fixture(scope="session")
def console(registry: Path) -> Iterator[str]:
    """The address of the console."""
    yield from _serve(registry)


@pytest.fixture
def fresh_console(registry: Path) -> Iterator[str]:
    """The address of a server that nobody has visited yet."""
    yield from _serve(registry)


@pytest.fixture(scope="session")
def live(broker: str, kafka_admin: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a console over a broker with groups that lag and topics nobody uses."""
    yield from _serve(fill_cluster(tmp_path_factory.mktemp("live"), broker, kafka_admin))


@pytest.fixture(scope="session")
def serving() -> Callable[[Path], Iterator[str]]:
    """Serve the console of another registry, for modules that need one of their own."""
    return _serve


def _serve(registry: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true",
               "--server.port", str(port), "--server.fileWatcherType", "none"]  # fmt: skip
    env = {**os.environ, "HEADGATE_CONFIG": str(registry)}
    with (registry.parent / f"{port}.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                # On a busy machine it may take longer to say goodbye to its pages.
                server.kill()
                server.wait()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        with suppress(OSError), urlopen(address, timeout=2):
            return True
        return False

    until(lambda: server.poll() is not None or answers(), "the console does not start", every=0.2)
    assert server.poll() is None, "the console has ended"


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


class Windows:
    """Profiles by size, colours and what else was asked for, each for all tests.

    A new profile would compile Streamlit's code once more, which takes longer than most pages.
    """

    def __init__(self, browser: Any) -> None:
        self._browser, self._profiles = browser, {}

    def open(self, **wish: Any) -> Any:
        """Return a new page."""
        key = json.dumps(wish, sort_keys=True)
        if key not in self._profiles:
            self._profiles[key] = self._browser.new_context(**wish)
        return self._profiles[key].new_page()

    @staticmethod
    def forget(page: Any) -> None:
        """Close a page, and leave nothing behind that the next one would find."""
        page.evaluate("localStorage.clear()")
        page.context.clear_cookies()
        page.close()


@pytest.fixture(scope="session")
def windows(browser: Any) -> Windows:
    """The profiles of the browser."""
    return Windows(browser)


@pytest.fixture
def visit(windows: Windows, console: str) -> Iterator[Callable[..., Any]]:
    """Open a path in a new window; at the end nothing may have been complained about."""
    pages, complaints = [], []

    def open_(
        path: str,
        *,
        at: str = console,
        size: tuple[int, int] = LARGE,
        scheme: str = "light",
        **more: Any,
    ) -> Any:
        view = {"width": size[0], "height": size[1]}
        page = windows.open(viewport=view, color_scheme=scheme, **more)
        pages.append(page)
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
        page.on("request", lambda r: _check_host(r.url, at, complaints))
        page.goto(f"{at}/{path}")
        return page

    yield open_
    for page in pages:
        windows.forget(page)
    # Streamlit looks for its own address below a deep link's path first, and goes on.
    assert [c for c in complaints if "status of 404" not in c] == []


def _check_host(address: str, console: str, complaints: list[str]) -> None:
    allowed = (console, "data:", "blob:", console.replace("http:", "ws:"))
    if not address.startswith(allowed):
        complaints.append(f"asked for {address}")


# True once for this many frames the server has had nothing to say and no graph has moved or faded.
_SETTLED = """async () => {
  const graphs = [];
  const search = (root) => { for (const element of root.querySelectorAll("*")) {
    if (element.classList.contains("graph")) graphs.push(element);
    if (element.shadowRoot) search(element.shadowRoot); } };
  search(document);
  const look = () => graphs.map((graph) => {
    const nodes = [...graph.querySelectorAll(".node")], world = graph.querySelector(".world");
    const seen = (node) => node.getAttribute("transform") + getComputedStyle(node).opacity;
    return world?.getAttribute("transform") + nodes.map((n) => n.dataset.id + seen(n)).join();
  }).join();
  const busy = () => document.querySelector("[data-stale=true]") ||
    document.querySelector("[data-test-script-state=running]");
  let before = "";
  for (let calm = 0; calm < 8;) {
    await new Promise(requestAnimationFrame);
    const now = look();
    calm = now === before && !busy() ? calm + 1 : 0;
    before = now;
  }
  return true;
}"""


def settle(page: Any) -> None:
    """Wait until the page is drawn: no answer of the server is due, and no graph moves or fades."""
    page.wait_for_function(_SETTLED)


@pytest.fixture
def shoot() -> Callable[[Any, str], None]:
    """Write a screenshot for people to look at."""
    SHOTS.mkdir(exist_ok=True)

    def write(page: Any, name: str) -> None:
        settle(page)
        page.screenshot(path=SHOTS / f"{name}.png")

    return write
