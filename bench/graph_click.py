"""From a click on a node to its details, in the machine's own browser: the graph is of 1,000 nodes.

The peer is the same click in a graph of 32 nodes: a click must not take longer because the graph
is larger. Both pages stay open and take turns, so that what else the machine does hits both. The
browser measures by itself, from the button going down to the frame after the details are there.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Row

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.conftest import FLAGS, _serve
from support import many_nodes

LARGE, SMALL = 1000, 32
CLICKS, WARM_UP = 40, 5
MEDIAN, WORST, RATIO = 0.120, 0.250, 1.3
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WATCH = """() => {
  window.took = [];
  let begun = 0, wanted = "";
  const said = () => (document.querySelector(".st-key-details .hg-name") || {}).textContent;
  window.addEventListener("pointerdown", (event) => {
    const node = event.composedPath().find((e) => e.classList && e.classList.contains("node"));
    [begun, wanted] = [performance.now(), node ? node.querySelector(".label").textContent : ""];
  }, true);
  new MutationObserver(() => {
    if (!begun || said() !== wanted) return;
    const from = begun;
    begun = 0;
    requestAnimationFrame(() => window.took.push((performance.now() - from) / 1000));
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def rows() -> Iterator[Row]:
    """Yield the median and the worst click, folded as the graph opens, and all of it open."""
    with tempfile.TemporaryDirectory() as home, _consoles(Path(home)) as address:
        for name, whole in (("as it opens", False), ("every box open", True)):
            large, small = _measured(address, whole=whole)
            middle, peer = statistics.median(large), statistics.median(small)
            yield Row(
                subject=f"click in {LARGE} nodes, {name}: median",
                ours=middle,
                peer=peer,
                peer_is=f"{SMALL} nodes",
                goal=f"at most {RATIO} times the peer; {MEDIAN * 1000:g} ms on a quiet machine",
                met=middle <= RATIO * peer,
            )
            yield Row(
                subject=f"click in {LARGE} nodes, {name}: worst of {CLICKS}",
                ours=max(large),
                peer=max(small),
                peer_is=f"{SMALL} nodes",
                goal=f"{WORST * 1000:g} ms on a quiet machine",
            )


@contextmanager
def _consoles(home: Path) -> Iterator[str]:
    served = _serve(many_nodes.write(home, {"large": LARGE, "small": SMALL}))
    yield next(served)
    for _ in served:
        pass


def _measured(address: str, *, whole: bool) -> tuple[list[float], list[float]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser(), args=FLAGS)
        pages = [_page(browser, address, name, whole) for name in ("large", "small")]
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(WARM_UP + CLICKS):
            for page, found in zip(pages, times, strict=True):
                found.append(_click(page, turn))
        browser.close()
    return times[0][WARM_UP:], times[1][WARM_UP:]


def _browser() -> str:
    given = os.environ.get("HEADGATE_CHROMIUM")
    return given or next(path for name in BROWSERS if (path := shutil.which(name)))


def _page(browser: Any, address: str, name: str, whole: bool) -> Any:
    boxes = range(LARGE) if whole else range(3)
    opened = "&".join(f"unfolded={name}/{n}" for n in boxes if n < LARGE // 8)
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/topology?pipeline={name}&{opened}&node=total-1")
    page.locator(".graph .node.selected").wait_for()
    page.wait_for_timeout(3000)
    page.evaluate(WATCH)
    return page


def _click(page: Any, turn: int) -> float:
    """Click a node of the second sub-topology and return the seconds until its details."""
    target = page.locator(f".graph .node[data-id='{many_nodes.MEMBERS[turn % 7]}-1'] .face")
    had = page.evaluate("window.took.length")
    box = target.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function(f"window.took.length > {had}")
    page.wait_for_timeout(150)
    return float(page.evaluate("window.took.at(-1)"))
