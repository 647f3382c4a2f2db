"""How long a person waits for the command line: a process from its start to its end.

The peer is an interpreter that imports what any such command would (click, and rich for tables)
and does nothing else: what is above it is our own doing, what is in it is Python's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness import Row, least_of

ROOT = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).with_name("headgate"))
BARE = (sys.executable, "-c", "import click")
WITH_TABLES = (sys.executable, "-c", "import click, rich.console, rich.table")
TIMES = 9


def rows() -> Iterator[Row]:
    """Yield `--help` and `topology FILE`, each beside an interpreter that only imports."""
    yield _row("headgate --help", (COMMAND, "--help"), BARE, 0.150, "import click")
    plan = (COMMAND, "topology", str(_plan()))
    yield _row("headgate topology FILE", plan, WITH_TABLES, 0.400, "import click, rich")
    yield _row(
        "headgate topology FILE --format json",
        (*plan, "--format", "json"),
        BARE,
        0.400,
        "import click",
    )


def _row(subject: str, ours: Sequence[str], peer: Sequence[str], goal: float, peer_is: str) -> Row:
    best, other = least_of((_started(ours), _started(peer)), TIMES)
    text = f"under {goal * 1000:.0f} ms"
    return Row(subject=subject, ours=best, peer=other, goal=text, met=best < goal, peer_is=peer_is)


def _started(command: Sequence[str]) -> Callable[[], object]:
    env = {**os.environ, "HEADGATE_CONFIG": os.devnull}
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)


def _plan() -> Path:
    """Return an explain text of ordinary size."""
    return ROOT / "tests/golden/spark/win_sliding_to_tumbling/before/explain.txt"
