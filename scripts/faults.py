"""Run every scene under every fault, print the table, write docs/faults.md.

`python scripts/faults.py [SCENE...] [--fault WORD] [--where WORD] [--short] [--jobs N]
[--table FILE]`. Without a scene's name all of tests/scenes are run. The table keeps the rows that
a run does not run again, each with its day. Exit 1 where a cell went wrong.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
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
    parser.add_argument("--short", action="store_true", help="of several kills in a step only one")
    parser.add_argument("--jobs", type=int, default=3, help="cells at a time (default 3)")
    parser.add_argument("--table", type=Path, help="write the table to this file")
    given = parser.parse_args()
    wanted = tuple(map(scene, given.scenes)) or SCENES
    results: dict[str, list[Result]] = {}
    with tempfile.TemporaryDirectory(prefix="headgate-faults-") as folder, Forks() as forks:
        lab = Lab(Path(folder), Kafka(Path(folder) / "kafka"), forks)
        try:
            for kind in wanted:
                results[kind.name] = _scene(lab, kind, given)
                if given.table:
                    _write(given.table, results)
        finally:
            lab.kafka.close()
    print(_document({name: _rows(found) for name, found in results.items()}))
    return int(any(r.error for found in results.values() for r in found))


def _scene(lab: Lab, kind: type[Scene], given: argparse.Namespace) -> list[Result]:
    try:
        found = survey(lab, kind)
    except Exception as error:
        cell = Cell(kind, "none", "", "", lambda _: None)
        return [_told(Result(cell, 0, _reason(error)))]
    wanted = [c for c in cells(kind, found) if given.fault in c.fault and given.where in c.where]
    if given.short:
        wanted = list(
            {(c.fault, c.where.partition(":")[0], c.recovery): c for c in wanted}.values()
        )
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


Rows = dict[tuple[str, ...], tuple[str, ...]]


def _write(table: Path, results: Mapping[str, Sequence[Result]]) -> None:
    """Write the rows of these results; others stay as they are."""
    known = {s.name for s in SCENES}
    sections = {n: r for n, r in _written(table).items() if n in known}
    for name, found in results.items():
        sections[name] = sections.get(name, {}) | _rows(found)
    table.write_text(_document(sections), encoding="utf-8")


def _written(table: Path) -> dict[str, Rows]:
    text = table.read_text(encoding="utf-8") if table.exists() else ""
    sections: dict[str, Rows] = {}
    for part in re.split(r"(?m)^## ", text)[1:]:
        name, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("| ")]
        cells = [tuple(cell.strip() for cell in line.strip("| ").split(" | ")) for line in lines]
        sections[name.strip()] = {row[:_KEY]: row[_KEY:] for row in cells[1:]}
    return sections


def _rows(results: Iterable[Result]) -> Rows:
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        cell = result.cell
        key = (cell.fault, cell.where.partition(":")[0] or "nowhere", cell.recovery or "none")
        groups.setdefault(key, []).append(result)
    return {key: _counted(found) for key, found in groups.items()}


def _counted(found: Sequence[Result]) -> tuple[str, ...]:
    wrong = [r for r in found if r.error]
    well = str(len(found) - len(wrong))
    said = "; ".join(f"{r.cell.where}: {r.error.partition(chr(10))[0]}" for r in wrong)
    day = datetime.date.today().isoformat()
    return str(len(found)), f"**{well}**" if wrong else well, said.replace("|", "/") or "–", day


def _document(sections: Mapping[str, Rows]) -> str:
    parts = [_HEAD]
    for name, rows in sorted(sections.items()):
        lines = [_line(_COLUMNS), _line(["---"] * len(_COLUMNS)).replace(" ", "")]
        lines += [_line([*key, *rest]) for key, rest in sorted(rows.items())]
        parts.append(f"## {name}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_COLUMNS = ("fault", "where", "recovery", "cells", "ok", "what went wrong", "measured")
_KEY = 3
_HEAD = """\
# Faults

Written by `make faults`. Each cell makes a pipeline of its own that is at work on real topics,
with late, duplicate and disordered records and a producer that goes on writing, and lets one fault
strike at one place of a real run. `ok` means that the run was finished by the recovery that is
named, that every record was read as a direct reading of the topics says, with nothing done twice
and nothing lost, and that its undo (or the undo in place of its end) left everything as before.
"""


if __name__ == "__main__":
    sys.exit(main())
