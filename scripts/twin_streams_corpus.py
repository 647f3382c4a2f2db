"""Run both versions of every recorded upgrade of Kafka Streams whose code is kept, and compare.

    python scripts/twin_streams_corpus.py [--corpus NAME] [--only NAME ...] [--results FILE]
                                          [--table FILE]

The upgrades are in tests/cases/streams_fresh/recorder, what they did in the folders GROUPS. Those
of pull requests read texts of several fields: their first recorded records are a sample. A twin run
only knows the two versions: upgrades whose disk was wiped, whose application id changed or whose
topics grew in between are counted apart. Rules read the case's files, twin runs generated records.
Four brokers and two JVMs serve all upgrades. `--results` is appended to, an upgrade a line, and
those in it are not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from score import HARMFUL, HARMLESS
from twin_corpus import WORDS, Scored, is_right, page, summary

from headgate.errors import HeadgateError
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker
from headgate.gateway.kafka_streams.application import EntryPoint
from headgate.gateway.kafka_streams.jvm import JvmRequest, StreamsJvm, start_jvm
from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from headgate.rules.compare.twin_findings import with_twin, worst_of
from headgate.rules.compare.twin_lowers import can_lower
from headgate.rules.compare.twin_streams_findings import STREAMS_RULES
from headgate.usecases.compare.compare_versions import compare_versions
from headgate.usecases.rehearsal.one_version import Side
from headgate.usecases.rehearsal.twin_kafka_streams import (
    BROKER,
    Servers,
    StreamsTwin,
    StreamsTwinOptions,
    run_streams_twin,
)

CASES = Path(__file__).parents[1] / "tests" / "cases"
RECORDER = CASES / "streams_fresh" / "recorder"
PULLS = tuple(sorted(folder.name for folder in CASES.glob("streams_pulls*")))
GROUPS = ("streams_fresh", "streams_more", "streams_kinds", *PULLS)
_STRINGS = "org.apache.kafka.common.serialization.Serdes$StringSerde"
_SERDES = {"default.key.serde": _STRINGS, "default.value.serde": _STRINGS}
_JAVAC = "jdk.compiler/com.sun.tools.javac.Main"
_SERVED = 40
_AROUND = {
    "wiped": "disk wiped",
    "renamed": "application id changed",
    "grown": "topics or partitions added",
}


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One upgrade in the recorder; `around` is what happened between the versions, if not code."""

    name: str
    before: dict[str, str]
    after: dict[str, str]
    around: str

    @property
    def folder(self) -> Path:
        """Return the recorded case."""
        return next(f for g in GROUPS if (f := CASES / g / self.name).is_dir())


def compiled(folder: Path) -> Path:
    """Compile the recorder, and return the folder of its classes."""
    sources = sorted(str(p) for p in RECORDER.glob("*.java"))
    path = streams_class_path()
    argv = [java(), "-m", _JAVAC, "-nowarn", "-cp", path, "-d", str(folder), *sources]
    subprocess.run(argv, check=True)
    return folder


def upgrades(classes: Path) -> Iterator[Upgrade]:
    """Yield the upgrades that the recorder has."""
    argv = [java(), "-cp", f"{classes}:{streams_class_path()}", "TwinCase"]
    listed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        name, before, after, around = line.split("\t")
        if any((CASES / group / name).is_dir() for group in GROUPS):
            yield Upgrade(name, _settings(before), _settings(after), around)


def _settings(text: str) -> dict[str, str]:
    pairs = (pair.split("=", 1) for pair in text.strip("{}").split(", ") if pair)
    return dict(pairs)


class Runner:
    """Brokers and JVMs that serve the upgrades; JVMs are restarted after 40 of them."""

    def __init__(self, classes: Path, work: Path, stack: ExitStack) -> None:
        self._classes, self._work, self._served = classes, work, 0
        # All are started here: they end with the thread that starts them.
        self._brokers = {
            name: stack.enter_context(RehearsalBroker(work / f"broker-{name}", BROKER))
            for name in ("restart", "scratch", "again", "bare")
        }
        self._jvms: dict[str, StreamsJvm] = {}
        stack.callback(self.end_jvms)

    def score(self, upgrade: Upgrade) -> Scored:
        """Run one upgrade."""
        truth = json.loads((upgrade.folder / "outcome.json").read_text(encoding="utf-8"))
        rules = compare_versions(*([str(upgrade.folder / side)] for side in ("before", "after")))
        known: dict[str, Any] = {"name": upgrade.name, "recorded": truth["outcome"]}
        known |= {"rules": rules.outcome.word, "error_class": truth.get("error_class")}
        begun = time.monotonic()
        try:
            found = self._run(upgrade, f"{upgrade.name}_", seed=7)
        except HeadgateError as error:
            return Scored(**known, twin="error", both=rules.outcome.word, why=str(error))
        verdict, again = found.verdict, None
        if can_lower(rules, verdict, *found.versions):
            second = self._run(upgrade, f"{upgrade.name}_again_", seed=8).verdict
            verdict, again = worst_of(verdict, second)
        both = with_twin(rules, verdict, *found.versions, STREAMS_RULES, again=again)
        refusal = verdict.refusal
        return Scored(
            **known,
            twin=verdict.outcome,
            both=both.report.outcome.word,
            twin_class=refusal.error_class if refusal else None,
            why=verdict.why,
            seconds=time.monotonic() - begun,
        )

    def _run(self, upgrade: Upgrade, prefix: str, seed: int) -> StreamsTwin:
        """Run it with topics of this prefix."""
        return run_streams_twin(
            self._side(upgrade, "before", prefix),
            self._side(upgrade, "after", prefix),
            options=StreamsTwinOptions(
                rows=400, seed=seed, scratch=self._work, samples=self._samples(upgrade, prefix)
            ),
            servers=self._servers(),
        )

    def _side(self, upgrade: Upgrade, side: str, prefix: str) -> Side:
        own = upgrade.before if side == "before" else upgrade.after
        where = {"twin.case": upgrade.name, "twin.prefix": prefix}
        return Side(
            what=EntryPoint("TwinCase", side),
            jars=[self._classes],
            application_id=f"{prefix}app",
            settings=_SERDES | own | where,
        )

    def _samples(self, upgrade: Upgrade, prefix: str) -> list[Path]:
        """Return a file of the records that a pull request's old version got, none for others."""
        if upgrade.folder.parent.name not in PULLS:
            return []
        argv = [java(), "-cp", f"{self._classes}:{streams_class_path()}", "TwinCase", upgrade.name]
        told = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
        rows = (line.split("\t") for line in told.splitlines())
        file = self._work / f"{prefix}.jsonl"
        records = (
            {"topic": f"{prefix}{topic}", "key": key, "value": value} for topic, key, value in rows
        )
        file.write_text("".join(f"{json.dumps(r)}\n" for r in records), encoding="utf-8")
        return [file]

    def _servers(self) -> Servers:
        self._served += 1
        if not self._jvms or self._served % _SERVED == 0:
            self.end_jvms()
            for name in ("restart", "scratch"):
                folder = self._work / f"jvm-{name}-{self._served}"
                self._jvms[name] = start_jvm(JvmRequest(jars=[self._classes]), folder)
        jvms = self._jvms | {"bare": self._jvms["restart"], "again": self._jvms["scratch"]}
        return Servers(self._brokers.__getitem__, jvms.__getitem__)

    def end_jvms(self) -> None:
        """End both."""
        for jvm in self._jvms.values():
            jvm.close()
        self._jvms = {}


HEAD = """# Twin runs of Kafka Streams on recorded upgrades

`make twin-all` runs both versions of each recorded upgrade on generated records, those of pull
requests on their first recorded records and others like them. What files can't decide, such as a
function's body, is counted, too: twin runs need no files.
"""


def section(group: str, found: Sequence[Scored], around: dict[str, str]) -> str:
    """Return a group's part of the page."""
    run = [s for s in found if s.twin != "error"]
    code = [s for s in run if not around[s.name]]
    mean = sum(s.seconds for s in run) / max(len(run), 1)
    left = sum(f.parent.is_dir() for f in (CASES / group).glob("*/outcome.json")) - len(found)
    lines = [
        f"## {group}",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}: {len(run)} upgrades ran, {mean:.0f} s each with brokers",
        f"and JVMs that had started before. {len(found) - len(run)} could not run,",
        f"{left} were left out.",
        "",
    ]
    for title, some in (
        ("Changes of code and settings that files can decide",
         [s for s in code if _is_decidable(s)]),
        ("Changes of code and settings that they can't", [s for s in code if not _is_decidable(s)]),
        ("Changes outside the code, which rules judge: disk wiped, id changed, topics added",
         [s for s in run if around[s.name]]),
    ):  # fmt: skip
        if some:
            lines += [f"**{title} ({len(some)})**", "", *summary(some), ""]
    lines += [
        "| upgrade | outside the code | recorded | rules | twin run | both |",
        "|---|---|---|---|---|---|",
        *(_row(s, around[s.name]) for s in found),
    ]
    return "\n".join(lines) + "\n"


def _is_decidable(scored: Scored) -> bool:
    file = next(f for g in GROUPS if (f := CASES / g / scored.name / "outcome.json").is_file())
    return bool(json.loads(file.read_text(encoding="utf-8")).get("decidable_from_files", True))


def _row(scored: Scored, around: str) -> str:
    outcomes = (scored.recorded, scored.rules, scored.twin, scored.both)
    words = " | ".join(WORDS[word] for word in outcomes)
    return f"| {scored.name} | {_AROUND.get(around, '')} | {words} |"


def main() -> int:
    """Run the upgrades; exit 1 if both together miss a failure that only rules report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", choices=GROUPS)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--results", type=Path)
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    known = {s.name: s for s in _kept(given.results)}
    with tempfile.TemporaryDirectory(prefix="headgate-twins-") as text, ExitStack() as stack:
        work = Path(text)
        classes = compiled(work / "classes")
        every = list(upgrades(classes))
        chosen = [u for u in every if _is_chosen(u, given)]
        left = [u for u in chosen if u.name not in known]
        runner = Runner(classes, work, stack) if left else None
        for upgrade in left:
            assert runner is not None
            known[upgrade.name] = scored = runner.score(upgrade)
            _report(scored, given.results)
    found = {g: [known[u.name] for u in chosen if u.folder.parent.name == g] for g in GROUPS}
    everything = [s for some in found.values() for s in some]
    print("\n".join(summary(everything)))
    if given.table:
        around = {u.name: u.around for u in every}
        sections = [section(g, some, around) for g, some in found.items() if some]
        old = given.table.read_text(encoding="utf-8") if given.table.is_file() else ""
        given.table.write_text(page(sections, old, HEAD), encoding="utf-8")
    return 1 if any(s.rules in HARMFUL and s.both in HARMLESS for s in everything) else 0


def _is_chosen(upgrade: Upgrade, given: argparse.Namespace) -> bool:
    is_named = not given.only or upgrade.name in given.only
    return is_named and given.corpus in (None, upgrade.folder.parent.name)


def _kept(file: Path | None) -> list[Scored]:
    if file is None or not file.is_file():
        return []
    return [Scored(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def _report(scored: Scored, file: Path | None) -> None:
    sign = "ok  " if is_right(scored.recorded, scored.twin) else "MISS"
    print(
        f"{sign} {scored.name}: recorded {scored.recorded}, rules {scored.rules}, twin "
        f"{scored.twin}, both {scored.both}, {scored.seconds:.0f} s ({scored.why[:160]})",
        flush=True,
    )
    if file is not None:
        with file.open("a", encoding="utf-8") as results:
            results.write(json.dumps(asdict(scored)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
