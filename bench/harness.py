"""Measure subjects against their peers in the same run and write one dated table.

`python bench/harness.py [SUBJECT...]` runs the named files of this folder, or all of them. A
subject file offers `rows()`, an iterator of `Row`; whatever it needs (files, processes) it makes
in a temporary folder of its own. Times are the minimum of several runs: noise only ever adds.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
HEADER = (
    "# Benchmarks",
    "",
    "Written by `make bench` (one subject: `make bench ARGS=command_line`). Ours and the peer were",
    "measured in the same run, each the minimum of several; `ratio` is ours divided by the peer's.",
    "",
)
COLUMNS = ("subject", "ours", "peer", "ratio", "goal", "met", "measured")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    `ours` and `peer` are in `unit` (seconds unless said otherwise); `peer` is None where nothing
    comparable exists. `goal` is the sentence that people read, `met` whether it was reached in
    this run, None where the row only informs. `peer_is` says what the peer did, and why it is one.
    """

    subject: str
    ours: float
    peer: float | None = None
    goal: str = ""
    met: bool | None = None
    unit: str = "s"
    peer_is: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours divided by the peer's: below 1 is faster (or smaller)."""
        return self.ours / self.peer if self.peer else None


def least(work: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of several runs of `work`, in seconds."""
    return least_of((work,), times)[0]


def least_of(
    works: Sequence[Callable[[], object]],
    times: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the shortest run of each work, in seconds; they take turns, so noise hits all.

    `time.process_time` as the clock leaves out what other processes take of the machine: for work
    that waits for nothing, the two agree where nothing else runs.
    """
    best = [float("inf")] * len(works)
    for _ in range(times):
        for i, work in enumerate(works):
            start = clock()
            work()
            best[i] = min(best[i], clock() - start)
    return best


def subjects() -> list[str]:
    """Return the names of all subject files, sorted."""
    return sorted(p.stem for p in HERE.glob("*.py") if p.stem != "harness")


def run(subject: str) -> Iterator[Row]:
    """Yield the rows of one subject file, as they are measured."""
    spec = importlib.util.spec_from_file_location(f"bench_{subject}", HERE / f"{subject}.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"no subject {subject!r}; there are {', '.join(subjects())}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield from module.rows()


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "s" and value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} {unit}"


def cells(row: Row, day: str) -> tuple[str, ...]:
    """Return the row as the table shows it."""
    ratio = "–" if row.ratio is None else f"{row.ratio:.2f}"
    met = {True: "met", False: "**not met**", None: ""}[row.met]
    ours, peer = _number(row.ours, row.unit), _number(row.peer, row.unit)
    if row.peer_is:
        peer += f" ({row.peer_is})"
    return row.subject, ours, peer, ratio, row.goal, met, day


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(v.replace("|", "\\|") for v in values) + " |"


def _kept(done: set[str]) -> dict[str, list[str]]:
    """Return the sections of the last results that this run does not measure again."""
    if not RESULTS.exists():
        return {}
    parts = re.split(r"(?m)^## ", RESULTS.read_text(encoding="utf-8"))[1:]
    known = set(subjects())
    made = {p.partition("\n")[0].strip(): p.rstrip().splitlines()[1:] for p in parts}
    return {name: lines for name, lines in made.items() if name in known and name not in done}


def write(measured: dict[str, list[Row]], day: str) -> None:
    """Write `RESULTS.md`; subjects that were not measured now keep their dated lines."""
    sections = _kept(set(measured))
    for subject, found in measured.items():
        table = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
        sections[subject] = ["", *table, *(_line(cells(r, day)) for r in found)]
    out = list(HEADER)
    for subject in sorted(sections):
        out += [f"## {subject}", *sections[subject], ""]
    RESULTS.write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")


def main() -> int:
    """Measure, print and write; 1 where a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(subjects())}")
    wanted = parser.parse_args().subjects or subjects()
    day = datetime.date.today().isoformat()
    print(f"{day}, Python {platform.python_version()}")
    measured: dict[str, list[Row]] = {}
    for subject in wanted:
        for row in run(subject):
            measured.setdefault(subject, []).append(row)
            print("  ".join(c for c in cells(row, day)[:-1] if c), flush=True)
        write(measured, day)
    missed = [r.subject for found in measured.values() for r in found if r.met is False]
    if missed:
        print(f"not met: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
