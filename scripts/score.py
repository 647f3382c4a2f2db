"""Score `headgate diff` against what the engines really did.

usage: score.py [--headgate CMD] [--jobs N] [--list] [--twins FILE] FOLDER...

A FOLDER holds cases: CASE/before, CASE/after, CASE/outcome.json. Prints the confusion matrix and
one line a folder. FILE is the page of `make twin-all`: only rules, only twin runs, and both.

  exact      the predicted outcome is the engine's
  dangerous  the engine refuses or goes silently wrong, the prediction is resumes or no_effect
  alarm      the engine resumes or ignores the change, the prediction is refuses or silently_wrong
  near       right about the harm, and another outcome

Cases that files can't decide are counted apart: there `unknown` is the right answer, and anything
true is fine too.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HARMLESS, HARMFUL = {"resumes", "no_effect"}, {"refuses", "silently_wrong"}
LONGEST = 60
"""Seconds after which a comparison that has not ended counts as an error."""


@dataclass(frozen=True)
class Answer:
    """What was predicted: the outcome (or `error: ...`), and the error classes of failed starts."""

    outcome: str
    classes: frozenset[str] = frozenset()


@dataclass
class Tally:
    """The counts: `kinds` by folder, `matrix` by (engine's, predicted), `apart` and `named`."""

    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    matrix: Counter[tuple[str, str]] = field(default_factory=Counter)
    apart: Counter[str] = field(default_factory=Counter)
    named: Counter[bool] = field(default_factory=Counter)


def main_condition(name: str | None) -> str | None:
    """STREAM_X.SUB -> STREAM_X; a.b.SomeException -> SomeException; anything else as it is."""
    if not name:
        return None
    first, *_, last = [*name.split("."), name.rpartition(".")[2]]
    return first if first.isupper() else last


def predict(command: Sequence[str], case: Path) -> Answer:
    """Ask the command for one case; what goes wrong is an answer, too."""
    sides = ("--before", str(case / "before"), "--after", str(case / "after"))
    arguments = [*command, "diff", *sides, "--fail-on", "none", "--format", "json"]
    try:
        run = subprocess.run(arguments, capture_output=True, text=True, timeout=LONGEST)
    except (subprocess.TimeoutExpired, OSError) as error:
        return Answer(f"error: {error}"[:120])
    try:
        answer = json.loads(run.stdout)
        refusing = [f for f in answer["findings"] if f.get("outcome") == "refuses"]
        classes = {main_condition(f.get("error_class")) for f in refusing}
        return Answer(answer["outcome"], frozenset(c for c in classes if c))
    except (ValueError, KeyError, TypeError, AttributeError):
        said = run.stderr.strip().splitlines() or [f"exit {run.returncode}, no JSON"]
        return Answer(f"error: {said[-1]}"[:120])


def kind(expected: str, got: str) -> str:
    """Return the word for one prediction."""
    if got == expected:
        return "exact"
    if got == "unknown":
        return "unknown"
    if got.startswith("error"):
        return "error"
    if expected in HARMFUL and got in HARMLESS:
        return "dangerous"
    return "alarm" if expected in HARMLESS and got in HARMFUL else "near"


def count(tally: Tally, folder: str, truth: dict[str, Any], answer: Answer) -> str:
    """Add one case; return the word for it."""
    expected, got = truth["outcome"], answer.outcome
    word = kind(expected, got)
    if not truth.get("decidable_from_files", True):
        tally.apart[word if word in ("unknown", "exact", "dangerous") else "other"] += 1
        return "exact"
    if expected == got == "refuses" and truth.get("error_class"):
        tally.named[main_condition(truth["error_class"]) in answer.classes] += 1
    tally.kinds[folder][word] += 1
    tally.matrix[expected, got.split(":")[0]] += 1
    return word


def lines(tally: Tally) -> Iterator[str]:
    """Yield the confusion matrix and one line a folder."""
    for (expected, got), n in sorted(tally.matrix.items()):
        yield f"  {expected:15} predicted {got:15} {n}"
    yield f"  files can't decide: {dict(tally.apart)}"
    right, refused = tally.named[True], tally.named.total()
    yield f"  error class correct in {right} of {refused} cases that failed to start"
    total = sum(tally.kinds.values(), Counter())
    for folder, c in [*sorted(tally.kinds.items()), ("all", total)]:
        n = c.total()
        rest = (
            "dangerous {dangerous}, alarms {alarm}, unknown {unknown}, near {near}, errors {error}"
        )
        words = ("dangerous", "alarm", "unknown", "near", "error")
        told = rest.format(**{word: c[word] for word in words})
        yield f"{folder}: {c['exact']}/{n} exact ({100 * c['exact'] / n:.1f} %), {told}"


def of_twins(page: str) -> Iterator[str]:
    """Yield what a page of `twin_corpus.py` counted, one line a folder and judge."""
    for part in re.split(r"(?m)^## ", page)[1:]:
        folder = part.partition("\n")[0]
        day = re.search(r"\d{4}-\d\d-\d\d", part)
        rows = re.findall(
            r"(?m)^\| (rules|twin run|both) \| (.+?) \| (\d+) \| (\d+) \| (\d+) \|", part
        )
        # The first counts are of what files decide.
        for judge, right, missed, alarms, unknown in rows[:3]:
            yield (
                f"{folder}, {judge}{'' if judge == 'rules' else ', ' + day[0] if day else ''}: "
                f"{right} right, dangerous {missed}, alarms {alarms}, unknown {unknown}"
            )


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--headgate", default="headgate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print every case that is not exact")
    parser.add_argument(
        "--twins", type=Path, action="append", default=[], help="a page that `make twin-all` writes"
    )
    parser.add_argument("folders", nargs="+", type=Path)
    return parser.parse_args()


def main() -> None:
    """Score the folders that the command line names."""
    given = arguments()
    cases = sorted(p.parent for folder in given.folders for p in folder.rglob("outcome.json"))
    if not cases:
        sys.exit("no cases found")
    command = shlex.split(given.headgate)
    with ThreadPoolExecutor(given.jobs) as pool:
        answers = list(pool.map(lambda case: predict(command, case), cases))
    tally = Tally()
    for case, answer in zip(cases, answers, strict=True):
        truth = json.loads((case / "outcome.json").read_text(encoding="utf-8"))
        word = count(tally, case.parent.name, truth, answer)
        if given.list and word != "exact":
            print(f"{word:10} {case.parent.name}/{case.name}: {truth['outcome']}, "
                  f"predicted {answer.outcome}")  # fmt: skip
    print("\n".join(lines(tally)))
    for page in given.twins:
        print("\n".join(of_twins(page.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
