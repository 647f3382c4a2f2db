"""Bring Python packages, jars and a browser into this clone; what is complete stays as it is.

`setup.py STAGE...`, with the stages

    python    .venv with the pinned packages of requirements-dev.txt, the package itself editable
    jars      .cache/jars/<hash of ivy.xml>, resolved by the Ivy that PySpark ships
    stores    .cache/stores/<hash>: servers that the tests of remote file systems read from, and
              .cache/registry/<hash>: the schema registry that the tests of schemas ask
    postgres  .cache/postgres/<version>, where PostgreSQL is not installed: the tests of the store
    browser   a Chromium for the tests of the pages

Invariant: the stamp of a stage is written last and names what it was made from, so a set-up that
was cut off at any moment is completed by the next one. Only the standard library is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

# Python leaves the script's own folder out where it is told to be safe (-P, PYTHONSAFEPATH).
sys.path.insert(0, str(Path(__file__).resolve().parent))
# The product fetches jars where there is no clone: its module needs the standard library only.
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "lib"))

from setting_up.browser import has_browser, install_browser
from setting_up.jars import fetch_jars, has_jars
from setting_up.java import check_java
from setting_up.packages import has_packages, install_packages
from setting_up.servers import (
    fetch_postgres,
    fetch_registry,
    fetch_stores,
    has_postgres,
    has_registry,
    has_stores,
)
from setting_up.shell import only_one, stop


def fetch_servers() -> None:
    """Fetch those servers of the tests that are missing."""
    for is_done, do in (
        (has_stores, fetch_stores),
        (has_registry, fetch_registry),
    ):
        if not is_done():
            do()


def main(stages: list[str]) -> None:
    """Complete the stages in their order; exits with one sentence where that is impossible."""
    check_java()
    known: dict[str, tuple[Callable[[], bool], Callable[[], object]]] = {
        "python": (has_packages, install_packages),
        "jars": (has_jars, fetch_jars),
        "stores": (lambda: has_stores() and has_registry(), fetch_servers),
        "postgres": (has_postgres, fetch_postgres),
        "browser": (has_browser, install_browser),
    }
    for stage in stages:
        is_done, do = known[stage]
        if is_done():
            continue
        with only_one():
            if not is_done():
                do()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        stop("interrupted; the next set-up continues here")
