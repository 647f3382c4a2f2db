"""Run both versions of every recorded change on generated rows, and compare with what was recorded.

    python scripts/twin_corpus.py [CORPUS ...] [--only NAME ...] [--table FILE]

A case is a folder with before, after and outcome.json. Its code is before/query.py and
after/query.py, or before.py and after.py (`tests/cases/spark_pulls`), or is stored apart
(`tests/cases/spark_code`), so that no parser takes it for evidence. In `tests/cases/spark_fresh`
a definition has both versions.

Cases that files can't decide are left out: their reason is outside the two versions. Two Sparks
serve many cases, so a case takes seconds. The page has a section for each corpus: the counts with
95 % intervals (Wilson), and for each case what was recorded, and what the rules, the twin and both
together say. Sections of corpora that did not run stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rehearse_corpus import ENDING, HELPERS
from score import HARMFUL, HARMLESS, main_condition

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests" / "cases"
FRESH = KEPT / "spark_fresh"
WITH_CODE = (
    *(KEPT / name for name in ("spark", "spark_kinds")),
    *sorted(KEPT.glob("spark_pulls*")),
    *(FRESH / name for name in ("first", "second", "third", "fourth", "arbitrary_state")),
)
CODE = ROOT / "tests" / "cases" / "spark_code"
_SERVED = 25
_SECONDS = 300.0
_SIDES = {"before": "old", "after": "new"}
_DEFINED = """
import sys
from pathlib import Path

sys.path.insert(0, {folder!r})
import definitions.groups
from recorder.case import CASES, Place
from recorder.run import writer_of

def rehearsed(spark):
    version = CASES[{name!r}].{side}
    for name, value in version.settings.items():
        spark.conf.set(name, value)
    place = Place(spark, Path("/data"), Path("/data/out"), "127.0.0.1:1")
    return writer_of(version.build(place), version, lambda rows, batch: None)[0]
"""
HEAD = """# Twin runs on recorded changes

`make twin-all` runs both versions of each recorded change of a Spark query on generated rows. It
leaves out changes that files can't decide.
"""
WORDS = {
    "resumes": "Resumes", "no_effect": "No effect", "refuses": "Fails to start",
    "silently_wrong": "Wrong results", "unknown": "Unknown", "error": "No code that runs",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One case: recorded outcome and class, and what rules, twin and both say."""

    name: str
    recorded: str
    error_class: str | None
    rules: str
    twin: str
    both: str
    twin_class: str | None = None
    why: str = ""
    seconds: float = 0.0


def cases(corpus: Path, only: Sequence[str] = ()) -> list[Path]:
    """Return the cases whose code is stored and that two versions can decide."""
    found = []
    for file in sorted(corpus.glob("*/outcome.json")):
        case, truth = file.parent, json.loads(file.read_text(encoding="utf-8"))
        is_chosen = not only or case.name in only
        if is_chosen and truth.get("decidable_from_files", True) and has_code(case):
            found.append(case)
    return found


def has_code(case: Path) -> bool:
    """Whether both versions of a case are stored as code."""
    return case.parent.parent == FRESH or code(case, "after").is_file()


def code(case: Path, side: str) -> Path:
    """Return the file of a version's code, whether it is there or not."""
    places = case / side / "query.py", case / f"{side}.py"
    beside = next((place for place in places if place.is_file()), None)
    return beside or CODE / case.name / f"{side}.py"


def module(case: Path, side: str) -> str:
    """Return a version's code as a module with the entry point `rehearsed`."""
    if case.parent.parent == FRESH:
        return _DEFINED.format(folder=str(FRESH), name=case.name, side=_SIDES[side])
    text = code(case, side).read_text(encoding="utf-8")
    if "\ndef build(spark" in text:
        return f"{text}\n\nrehearsed = build\n"
    function = re.findall(r"^def (\w+)\(spark, ?p", text, re.MULTILINE)[-1]
    places = {n: f"/data/{n}" for n in ("src", "src2", "out", "out2", "static")}
    places |= {"topic": "in", "topic2": "in2"}
    text = text.replace("localhost:9092", "127.0.0.1:1")
    return HELPERS + text + ENDING.format(function=function, **places)


class Runner:
    """Two Sparks that serve the cases, and are restarted after a failure or after 25 cases.

    Each case may take `seconds`.
    """

    def __init__(self, work: Path, seconds: float = _SECONDS) -> None:
        self.work, self.modules, self.seconds = work, work / "modules", seconds
        self.modules.mkdir()
        self._stack = ExitStack()
        self._processes: Any = None
        self._served = 0

    def score(self, case: Path) -> Scored:
        """Run one case."""
        from headgate.errors import HeadgateError
        from headgate.rules.compare.twin_findings import with_twin
        from headgate.usecases.compare.compare_versions import compare_versions
        from headgate.usecases.rehearsal.twin_spark import TwinOptions, run_twin

        truth = json.loads((case / "outcome.json").read_text(encoding="utf-8"))
        sides = ("before", "after")
        for side in sides:
            path = self.modules / f"{case.name}_{side}.py"
            path.write_text(module(case, side), encoding="utf-8")
        rules = compare_versions(*([str(case / side)] for side in sides))
        known = {"name": case.name, "recorded": truth["outcome"], "rules": rules.outcome.word}
        known["error_class"] = truth.get("error_class")
        begun = time.monotonic()
        try:
            found = run_twin(
                *(f"{case.name}_{side}:rehearsed" for side in sides),
                options=TwinOptions(seconds=self.seconds, scratch=self.work),
                processes=self._sparks(),
            )
        except HeadgateError as error:
            self.close()
            return Scored(**known, twin="error", both=rules.outcome.word, why=str(error))
        both = with_twin(rules, found.verdict, *found.versions, again=found.again).report
        refusal = found.verdict.refusal
        return Scored(
            **known,
            twin=found.verdict.outcome,
            both=both.outcome.word,
            twin_class=refusal.error_class if refusal else None,
            why=found.verdict.why,
            seconds=time.monotonic() - begun,
        )

    def _sparks(self) -> Any:
        from headgate.gateway.spark.run_job import Checkout
        from headgate.gateway.spark.twin_version import TwinProcess

        self._served += 1
        if self._processes is None or self._served % _SERVED == 0:
            self.close()
            folder = self.work / f"spark-{self._served}"
            self._processes = tuple(
                self._stack.enter_context(TwinProcess(folder / name, Checkout((self.modules,))))
                for name in ("before", "after")
            )
        return self._processes

    def close(self) -> None:
        """End both."""
        self._stack.close()
        self._processes = None


def is_right(recorded: str, said: str) -> bool:
    """Whether an outcome is right; a twin has no word for `no_effect`."""
    return said == recorded or {said, recorded} == {"resumes", "no_effect"}


def interval(right: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, right / of
    middle = share + z * z / (2 * of)
    spread = z * ((share * (1 - share) + z * z / (4 * of)) / of) ** 0.5
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def summary(found: Sequence[Scored]) -> Iterator[str]:
    """Yield the counts as rows of a table; cases whose code doesn't run are left out."""
    run = [s for s in found if s.twin != "error"]
    yield "| | right | missed failures | false alarms | unknown |"
    yield "|---|---|---|---|---|"
    for name in ("rules", "twin", "both"):
        pairs = [(s.recorded, str(getattr(s, name))) for s in run]
        right = sum(is_right(*pair) for pair in pairs)
        low, high = interval(right, len(pairs))
        kinds = Counter(
            "unknown" if said == "unknown"
            else "missed" if recorded in HARMFUL and said in HARMLESS
            else "alarm" if recorded in HARMLESS and said in HARMFUL
            else ""
            for recorded, said in pairs
        )  # fmt: skip
        title = {"rules": "rules", "twin": "twin run", "both": "both"}[name]
        yield (
            f"| {title} | {right} of {len(pairs)} ({100 * low:.0f} to {100 * high:.0f} %) | "
            f"{kinds['missed']} | {kinds['alarm']} | {kinds['unknown']} |"
        )
    named = [
        main_condition(s.error_class) == main_condition(s.twin_class)
        for s in run
        if s.recorded == s.twin == "refuses"
    ]
    yield ""
    yield f"Error class of the twin run: {sum(named)} of {len(named)} right."


def section(corpus: Path, found: Sequence[Scored]) -> str:
    """Return a corpus's part of the page."""
    run = [s for s in found if s.twin != "error"]
    mean = sum(s.seconds for s in run) / max(len(run), 1)
    title = corpus.name if corpus.parent != FRESH else f"{FRESH.name}/{corpus.name}"
    lines = [
        f"## {title}",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}: {len(run)} changes of `tests/cases/{title}`, "
        f"{mean:.1f} s each",
        f"in a warm session. Code that did not run: {len(found) - len(run)}.",
        "",
        *summary(found),
        "",
        "| change | recorded | rules | twin run | both |",
        "|---|---|---|---|---|",
        *(
            f"| {s.name} | {' | '.join(WORDS[w] for w in (s.recorded, s.rules, s.twin, s.both))} |"
            for s in found
        ),
        *_left_out(corpus),
    ]
    return "\n".join(lines) + "\n"


def _left_out(corpus: Path) -> Iterator[str]:
    """Yield the names of recorded cases that are not run, with the reason."""
    every = {file.parent for file in corpus.glob("*/outcome.json")}
    coded = {case for case in every if has_code(case)}
    for title, some in (
        ("No code", every - coded),
        ("Files can't decide", coded - set(cases(corpus))),
    ):
        if some:
            yield ""
            yield f"{title} ({len(some)}): {', '.join(sorted(c.name for c in some))}."


def page(sections: Sequence[str], before: str, head: str = HEAD) -> str:
    """Return the page: its sections replace those of the same name in the old page."""
    known = {text.partition("\n")[0]: text for text in re.split(r"(?m)^(?=## )", before)[1:]}
    known |= {text.partition("\n")[0]: text for text in sections}
    parts = "\n".join(text.rstrip("\n") + "\n" for text in known.values())
    return f"{head}\n{parts}"


def main() -> int:
    """Run the cases; exit 1 if both together miss a failure that only rules report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="*", type=Path, default=WITH_CODE)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    lost, sections = 0, []
    for corpus in (c.resolve() for c in given.corpus):
        found = scored(corpus, given.only)
        print("\n".join(summary(found)))
        sections.append(section(corpus, found))
        lost += sum(s.rules in HARMFUL and s.both in HARMLESS for s in found)
    if given.table:
        old = given.table.read_text(encoding="utf-8") if given.table.is_file() else ""
        given.table.write_text(page(sections, old), encoding="utf-8")
    return 1 if lost else 0


def scored(corpus: Path, only: Sequence[str]) -> list[Scored]:
    """Run a corpus's cases, and print a line for each."""
    found = []
    with tempfile.TemporaryDirectory(prefix="headgate-twins-") as work:
        runner = Runner(Path(work))
        try:
            for case in cases(corpus, only):
                one = runner.score(case)
                found.append(one)
                sign = "ok  " if is_right(one.recorded, one.both) else "MISS"
                print(
                    f"{sign} {one.name}: recorded {one.recorded}, rules {one.rules}, "
                    f"twin {one.twin}, both {one.both} ({one.why[:120]})",
                    flush=True,
                )
        finally:
            runner.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
