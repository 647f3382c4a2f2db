"""Run every scene under every fault, print the table, write docs/faults.md.

`python scripts/faults.py [SCENE...] [--fault WORD] [--where WORD] [--jobs N] [--table FILE]`.
Without a scene's name all of tests/scenes are run. Exit 1 where a cell went wrong.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from scenes import SCENES, Scene, scene  # noqa: E402
from scenes.faults import Cell, Kafka, Lab, cells, may_mount, survey  # noqa: E402
from scenes.forked import Forks  # noqa: E402


@dataclass(frozen=True, slots=True)
class Result:
    """How a cell came out; `error` is empty where it came out well."""

    cell: Cell
    seconds: float
    error: str = ""


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", help=f"of {', '.join(s.name for s in SCENES)}")
    parser.add_argument("--fault", default="", help="only faults whose name holds this word")
    parser.add_argument("--where", default="", help="only places whose name holds this word")
    parser.add_argument("--jobs", type=int, default=3, help="cells at a time (default 3)")
    parser.add_argument("--table", type=Path, help="write the table to this file")
    given = parser.parse_args()
    wanted = tuple(map(scene, given.scenes)) or SCENES
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headgate-faults-") as folder, Forks() as forks:
        lab = Lab(Path(folder), Kafka(Path(folder) / "kafka"), forks)
        try:
            results = [r for kind in wanted for r in _scene(lab, kind, given)]
        finally:
            lab.kafka.close()
    text = _document(results, time.monotonic() - begun)
    print(text)
    if given.table:
        given.table.write_text(text, encoding="utf-8")
    return int(any(r.error for r in results))


def _scene(lab: Lab, kind: type[Scene], given: argparse.Namespace) -> list[Result]:
    try:
        found = survey(lab, kind)
    except Exception as error:
        cell = Cell(kind, "none", "", "", lambda _: None)
        return [_told(Result(cell, 0, _reason(error)))]
    wanted = [c for c in cells(kind, found) if given.fault in c.fault and given.where in c.where]
    if not may_mount():
        wanted = [c for c in wanted if c.fault != "disk full"]
        _say(f"{kind.name}: no disk is filled, for that takes the right to mount one")
    together, alone = [c for c in wanted if not c.alone], [c for c in wanted if c.alone]
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda c: _result(lab, c), together))
    return [*results, *(_result(lab, c) for c in alone)]


def _result(lab: Lab, cell: Cell) -> Result:
    begun = time.monotonic()
    try:
        cell.check(lab)
    except Exception as error:
        return _told(Result(cell, time.monotonic() - begun, _reason(error)))
    return _told(Result(cell, time.monotonic() - begun))


def _reason(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return str(error).strip() or f"{type(error).__name__} in {last.name}: {last.line}"


def _told(result: Result) -> Result:
    cell = result.cell
    how = "FAILED" if result.error else "ok"
    line = f"{how:6} {result.seconds:5.0f} s  {cell.scene.name}: {cell.fault}, {cell.where}"
    _say(f"{line} ({cell.recovery})")
    if result.error:
        _say("       " + result.error.replace("\n", "\n       "))
    return result


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _document(results: Sequence[Result], seconds: float) -> str:
    wrong = [r for r in results if r.error]
    head = (
        f"{datetime.date.today().isoformat()}: {len(results)} cells, {len(wrong)} went wrong,"
        f" {seconds / 60:.0f} minutes."
    )
    parts = [_HEAD, head, "", *_table(results)]
    if wrong:
        parts += ["", "## What went wrong", "", *map(_wrong, wrong)]
    return "\n".join(parts) + "\n"


_HEAD = """\
# Faults

Written by `make faults`. Each cell makes a pipeline of its own that is at work on real topics,
with late, duplicate and disordered records and a producer that goes on writing, and lets one fault
strike at one place of a real run. `ok` means that the run was finished by the recovery that is
named, that every record was read as a direct reading of the topics says, with nothing done twice
and nothing lost, and that its undo (or the undo in place of its end) left everything as before.
"""


def _table(results: Iterable[Result]) -> list[str]:
    lines = ["| scene | fault | where | recovery | cells | ok |", "|---|---|---|---|---|---|"]
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        cell = result.cell
        step = cell.where.partition(":")[0]
        groups.setdefault((cell.scene.name, cell.fault, step, cell.recovery), []).append(result)
    for key, found in groups.items():
        well = sum(not r.error for r in found)
        counts = (str(len(found)), str(well) if well == len(found) else f"**{well}**")
        lines.append(f"| {' | '.join((*key, *counts))} |")
    return lines


def _wrong(result: Result) -> str:
    cell = result.cell
    first = result.error.partition("\n")[0]
    return f"- {cell.scene.name}, {cell.fault}, {cell.where} ({cell.recovery}): {first}"


if __name__ == "__main__":
    sys.exit(main())
