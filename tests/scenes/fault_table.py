"""The table of a matrix: a row for each fault, place and recovery of a scene, with its day."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scenes.faults import Cell

Key = tuple[str, str, str]
ALONE, CHAINED = "alone", "in a chain"
_COLUMNS = (
    *("fault", "where", "recovery", "run", "of", "ok"),
    *("struck", "what went wrong", "measured"),
)
_TOTALS = ("scene", "cells run", "of", "ok", "measured")
_KEY = 3
_NOTHING = "–"
_HEAD = """\
# Faults

Written by `make faults`. A cell is one fault at one place of a real run over a pipeline that is at
work on real topics, with late, duplicate and disordered records and a producer that goes on
writing. `ok` means that the run was finished by the recovery that is named, that every record was
read as a direct reading of the topics says, with nothing done twice and nothing lost, and that its
undo (or the undo in place of its end) left everything as before.

A step has many places to be killed at: `of` says how many cells there are, `run` how many of them
were run. `struck` says in what manner. *Alone*: the pipeline, the run and the proof are the cell's
own. *In a chain*: one run is struck at one place after another. The worker is killed at the first
place, the next worker recovers and is killed at the next one, and so on through every step of the
run and of its undo; the broker goes, the store is locked and the disk is full at each step in turn.
Such a cell counts only where the fault did strike at that place and the end of the whole chain was
proven. A place that no recovery comes by (an effect that had happened when the worker was killed is
not done again) is struck in a further chain, and so is one inside an effect that was over before
the kill came, up to three times, or once where the effect takes less than 10 ms: then the kill
counts, though it came right behind the effect.
Where a chain ends badly, its last cells are run alone to find the guilty one, and that is counted.

What strikes inside an effect that has Spark process data comes once half of its Spark jobs have
begun, as Spark's event log says: Spark's start takes longer than the work. A driver is two
processes, Java's and Python's, and each is killed while the worker lives. An executor is killed on
a standalone cluster with two workers, and its run must be done without being resumed. The broker is
killed, not stopped, while a program is at work. Both kinds of a driver's kills are in the chain of
the worker's, and the broker's kill is in that of its stops.

What is cancelled and undone ends a run, so it can't be chained: `--short` runs one such cell of
each row. `--alone` runs no chains. Where no disk may be mounted, none is filled.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """How a cell came out; `error` is empty where it came out well."""

    cell: Cell
    seconds: float
    error: str = ""
    struck: str = ALONE


@dataclass(frozen=True, slots=True)
class Row:
    """What was found out of the `of` cells that have one fault, step and recovery."""

    run: int
    of: int
    ok: int
    struck: str
    wrong: str
    measured: str

    @property
    def is_whole(self) -> bool:
        """Whether all of its cells were run, and came out well."""
        return self.run == self.ok == self.of

    @property
    def written(self) -> tuple[str, ...]:
        """Its columns behind the key."""
        ok = str(self.ok) if self.ok == self.run else f"**{self.ok}**"
        texts = (text or _NOTHING for text in (self.struck, self.wrong, self.measured))
        return str(self.run), str(self.of), ok, *texts


def key(cell: Cell) -> Key:
    """Return the row of a cell."""
    return cell.fault, cell.location.partition(":")[0] or "nowhere", cell.recovery or "none"


class Table:
    """The rows by scene. Rows of scenes that are gone are dropped, and so are those of steps.

    With a `file` it goes on from what stands there, and is written at each change.
    """

    def __init__(self, file: Path | None, scenes: Iterable[str]) -> None:
        self._file = file
        self._scenes: dict[str, dict[Key, Row]] = {name: {} for name in sorted(scenes)}
        self._results: dict[tuple[str, Key], list[Result]] = {}
        text = file.read_text(encoding="utf-8") if file is not None and file.exists() else ""
        for name, rows in _read(text):
            if name in self._scenes:
                self._scenes[name] = rows

    @property
    def has_failures(self) -> bool:
        """Whether a result that was added went wrong."""
        return any(r.error for found in self._results.values() for r in found)

    def row(self, scene: str, row: Key) -> Row | None:
        """Return a row, None where there is none."""
        return self._scenes[scene].get(row)

    def expect(self, scene: str, cells: Iterable[Cell]) -> None:
        """Say which cells the scene has; rows of other ones are dropped."""
        before, now = self._scenes[scene], dict[Key, int]()
        for cell in cells:
            now[key(cell)] = now.get(key(cell), 0) + 1
        self._scenes[scene] = {
            row: old if (old := before.get(row)) and old.of == of else Row(0, of, 0, "", "", "")
            for row, of in now.items()
        }
        self._write()

    def add(self, result: Result) -> None:
        """Add a result; the first one of a row replaces what was known of it."""
        scene, row = result.cell.scene.name, key(result.cell)
        found = self._results.setdefault((scene, row), [])
        found.append(result)
        known = self._scenes[scene].get(row)
        self._scenes[scene][row] = _counted(found, of=known.of if known else 1)
        self._write()

    def _write(self) -> None:
        if self._file is not None:
            self._file.write_text(str(self), encoding="utf-8")

    def __str__(self) -> str:
        totals = [_total(name, list(rows.values())) for name, rows in self._scenes.items()]
        parts = [_HEAD, _lines(_TOTALS, totals)]
        for name, rows in self._scenes.items():
            if rows:
                lines = [(*row, *found.written) for row, found in sorted(rows.items())]
                parts.append(f"## {name}\n\n{_lines(_COLUMNS, lines)}")
        return "\n".join(parts)


def _read(text: str) -> Iterable[tuple[str, dict[Key, Row]]]:
    for part in re.split(r"(?m)^## ", text)[1:]:
        name, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("| ")]
        cells = [tuple(cell.strip() for cell in line.strip("| ").split(" | ")) for line in lines]
        # One of another shape was written before this table had its columns.
        whole = (c for c in cells[1:] if len(c) == len(_COLUMNS))
        yield name.strip(), {(c[0], c[1], c[2]): _row(c[_KEY:]) for c in whole}


def _row(cells: Sequence[str]) -> Row:
    run, of, ok, *texts = ("" if cell == _NOTHING else cell for cell in cells)
    return Row(int(run), int(of), int(ok.strip("*")), *texts)


def _counted(found: Sequence[Result], of: int) -> Row:
    wrong = [r for r in found if r.error]
    said = "; ".join(f"{r.cell.location}: {r.error.partition(chr(10))[0]}" for r in wrong)
    day = datetime.date.today().isoformat()
    struck = ", ".join(sorted({r.struck for r in found}))
    return Row(len(found), of, len(found) - len(wrong), struck, said.replace("|", "/"), day)


def _total(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    run, of, ok = (sum(getattr(row, count) for row in rows) for count in ("run", "of", "ok"))
    days = sorted({r.measured for r in rows if r.measured})
    measured = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else _NOTHING
    return name, str(run), str(of), str(ok) if ok == run else f"**{ok}**", measured


def _lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_line(columns), _line(["---"] * len(columns)).replace(" ", "")]
    return "\n".join([*lines, *map(_line, rows)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
