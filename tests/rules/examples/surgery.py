"""Checkpoints that somebody changed, as examples: which files are gone, and what others say now."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from headgate.rules.core.report import Report

from .excerpt import clean, cut
from .recorded import did
from .tables import WHY, Example, Side, import_tests


class Operation(NamedTuple):
    """One changed checkpoint: its row in the table, what differs, and what was measured."""

    row: int
    case: str
    lines: list[str]
    report: Report
    outcome: str
    error: str | None


def surgery_examples() -> dict[str, Example]:
    """Return an example of every rule about a checkpoint's files that a measured change has."""
    known = _operations()
    codes = {f.rule for o in known for f in o.report.findings if f.rule.startswith("CKP")}
    return {code: _example(code, known) for code in sorted(codes)}


def _example(code: str, known: list[Operation]) -> Example:
    fires = [o for o in known if any(f.rule == code for f in o.report.findings)]
    shown = min(fires, key=lambda o: (o.report.outcome.word != o.outcome, len(o.lines), o.row))
    fine = [o for o in known if o not in fires and o.outcome == "resumes"]
    passes = max(fine, key=lambda o: (len(_folders(o) & _folders(shown)), -len(o.lines), -o.row))
    (found, *_) = (f for f in shown.report.findings if f.rule == code)
    return {
        "reported": _side(shown) | {"said": clean(found.why.removesuffix(WHY[code]))},
        "passes": _side(passes),
    }


def _side(one: Operation) -> Side:
    return {
        "case": f"tests/rules/spark/test_checkpoint_surgery.py, {one.case}",
        "change": "",
        "lines": cut(one.lines),
        "said": "",
        "did": did("Spark 4.2.0", one.outcome, one.error),
    }


def _folders(one: Operation) -> set[str]:
    return {x[2:].partition("/")[0].partition(" ")[0] for x in one.lines}


@cache
def _operations() -> list[Operation]:
    tests = import_tests("spark", "test_checkpoint_surgery")
    found = []
    for row, (case, change, outcome, error) in enumerate(tests.SURGERY):
        with tempfile.TemporaryDirectory() as folder:
            report = tests.judged(case, change, Path(folder))
            now = _files(Path(folder) / "before" / "checkpoint")
        was = _files(tests.CASES / case / "before" / "checkpoint")
        if outcome != "unknown":
            found.append(Operation(row, case, _differing(was, now), report, outcome, error))
    return found


def _files(checkpoint: Path) -> dict[str, str]:
    found = sorted(p for p in checkpoint.rglob("*") if p.is_file())
    return {
        str(p.relative_to(checkpoint)): p.read_bytes().decode("utf-8", "replace") for p in found
    }


def _differing(was: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return `- file` for a file that is gone, and the lines of others that say something else.

    State files are listed as they are: the recorded checkpoints are kept without them.
    """
    gone = [f"- {name}" for name in was if name not in now]
    listed = [f"  {name}" for name in now if name not in was]
    return gone + listed + [x for n in was if n in now for x in _lines(n, was[n], now[n])]


def _lines(name: str, was: Any, now: Any) -> list[str]:
    if was == now:
        return []
    if not now:
        return [f"- {name}", f"+ {name} (empty)"]
    pairs = [(a, b) for a, b in zip(was.splitlines(), now.splitlines(), strict=False) if a != b]
    told = [_apart(a, b) for a, b in pairs]
    return [x for a, b in told for x in (f"- {name}: {clean(a)}", f"+ {name}: {clean(b)}")]


def _apart(one: str, other: str) -> tuple[str, str]:
    """Return of two JSON lines of settings what differs; short lines as they are."""
    if max(len(one), len(other)) < 80:
        return one, other
    mine, its = one.split(","), other.split(",")
    return (
        ",".join(x for x in mine if x not in its).strip("{}"),
        ",".join(x for x in its if x not in mine).strip("{}"),
    )
