"""How long a person waits for the command line: a process from its start to its end.

The peer is an interpreter that imports what any such command would (click, and rich for tables)
and does nothing else: what is above it is our own doing, what is in it is Python's. Both have their
bytecode, as an installed command has it after its first run, also where the environment says that
Python shall write none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from harness import Row, least_of

ROOT = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).with_name("headgate"))
BARE = (sys.executable, "-c", "import click")
WITH_TABLES = (sys.executable, "-c", "import click, rich.console, rich.table")
TIMES = 25


def rows() -> Iterator[Row]:
    """Yield `--help` and `topology FILE`, each beside an interpreter that only imports."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        yield from _rows(folder)


def _rows(folder: str) -> Iterator[Row]:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": folder, "HEADGATE_CONFIG": os.devnull}
    help_ = (COMMAND, "--help")
    yield _row("headgate --help", help_, BARE, 0.150, "import click", env)
    plan = (COMMAND, "topology", str(_plan()))
    yield _row("headgate topology FILE", plan, WITH_TABLES, 0.400, "import click, rich", env)
    as_json = (*plan, "--format", "json")
    yield _row("headgate topology FILE --format json", as_json, BARE, 0.400, "import click", env)


def _row(
    subject: str,
    ours: Sequence[str],
    peer: Sequence[str],
    goal: float,
    peer_is: str,
    env: Mapping[str, str],
) -> Row:
    works = tuple(_started(command, env) for command in (ours, peer))
    for work in works:
        work()
    best, other = least_of(works, TIMES)
    text = f"under {goal * 1000:.0f} ms"
    return Row(subject=subject, ours=best, peer=other, goal=text, met=best < goal, peer_is=peer_is)


def _started(command: Sequence[str], env: Mapping[str, str]) -> Callable[[], object]:
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)


def _plan() -> Path:
    """Return an explain text of ordinary size."""
    return ROOT / "tests/golden/spark/win_sliding_to_tumbling/before/explain.txt"
