"""Rehearse every restart of a corpus that can be rehearsed, and compare with what was recorded.

    python scripts/rehearse_corpus.py [CORPUS] [--only NAME ...] [--table FILE] [--results FILE]
                                      [--rollback]

A case is a folder with before/checkpoint, after/query.py (how the query was written, for people)
and outcome.json. Its input data is not kept: it is made again so that the next batch reaches the
operator. Cases whose checkpoint was changed by hand, or that need two queries at once, can't be
rehearsed and are left out with the reason. With --rollback the old version is started afterwards
on the copy that the new one changed, and the table says whether that ends as recorded, too.
CORPUS is REHEARSE_CORPUS, else what is kept under `tests/cases/rehearsal`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests" / "cases" / "rehearsal"
TABLE = ROOT / "docs" / "rehearsal_agreement.md"

# Why a case can't be rehearsed: what happened in it is no change of the query.
LEFT_OUT = (
    (re.compile(r"^ck_"), "its checkpoint was changed by hand between the versions"),
    (re.compile(r"^(bluegreen_|same_checkpoint_)"), "it needs two queries at once"),
    (
        re.compile(r"^sink_file_(new_checkpoint|rewind)"),
        "its result depends on the sink's own folder",
    ),
    (re.compile(r"^state_repartition_"), "a tool repartitioned its state between the versions"),
    (
        re.compile(r"_nofail$|^kafka_retention"),
        "records of its topic were deleted between the versions",
    ),
)
_NOT_LEFT_OUT = {"kafka_topic_remove_nofail"}

# What the recorded queries call and their files don't hold.
HELPERS = """
import glob, json, os, shutil, time
import pandas as pd
from pyspark.sql import functions as F, types as T
def cnt(df): return df.groupBy("k").agg(F.count("*").alias("c"), F.sum("v").alias("s"))
def csvsrc(spark, p):
    return spark.readStream.format("csv").schema(S).option("maxFilesPerTrigger", 1).load(p.src)
"""
ENDING = """

class _Places:
    src, src2, out, out2, static = {src!r}, {src2!r}, {out!r}, {out2!r}, {static!r}
    topic, topic2, out_topic, ckpt, rows = {topic!r}, {topic2!r}, "out", "unused", None
    def __init__(self): self.notes = []
    def collect(self, df, batch): pass
    def start(self, df, writer, sink=None, trigger=None):
        return writer.trigger(**(trigger or dict(availableNow=True))).start()

def rehearsed(spark):
    for name, value in CONF.items():
        spark.conf.set(name, value)
    return {function}(spark, _Places())
"""
# Everything that was read before; then what the next batch finds. Times go on from there.
FIRST = [
    {"k": "a", "v": 1, "d": "x", "ts": "2024-01-01T00:00:01"},
    {"k": "a", "v": 2, "d": "y", "ts": "2024-01-01T00:00:02"},
    {"k": "b", "v": 10, "d": "x", "ts": "2024-01-01T00:00:03"},
]
NEXT = [
    {"k": "a", "v": 5, "d": "x", "ts": "2024-01-01T00:00:14"},
    {"k": "c", "v": 7, "d": "z", "ts": "2024-01-01T00:00:15"},
    {"k": "b", "v": -3, "d": "y", "ts": "2024-01-01T00:01:16"},
]


class Broker:
    """A Kafka broker of our own that is started for the first case that needs it."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder, self.address = stack, folder, ""

    def fill(self, topics: dict[str, int], *, partitions: int) -> str:
        """Create topics with so many records each, and return the address."""
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient, NewTopic

        if not self.address:
            from headgate.gateway.kafka_broker.local_broker import running_broker

            self.address = self._stack.enter_context(running_broker(self._folder))
        admin = AdminClient({"bootstrap.servers": self.address})
        made = admin.create_topics([NewTopic(t, partitions, 1) for t in topics])
        for done in made.values():
            done.result(20)
        producer = Producer({"bootstrap.servers": self.address})
        for topic, count in topics.items():
            rows = [FIRST[i % 3] if i < count - 3 else NEXT[i % 3] for i in range(count)]
            for row in rows:
                producer.produce(topic, json.dumps(row), partition=0)
            if partitions > 1:
                producer.produce(topic, json.dumps(NEXT[1]), partition=1)
        assert producer.flush(20) == 0
        return self.address


def why_left_out(case: str) -> str | None:
    """Return why a case can't be rehearsed, None where it can."""
    if case in _NOT_LEFT_OUT:
        return None
    return next((why for pattern, why in LEFT_OUT if pattern.search(case)), None)


def prepare(case: Path, work: Path, broker: Broker | None = None) -> Path:
    """Lay out one case: a copy of its checkpoint, its input, a module each; return the folder."""
    folder = work / case.name
    shutil.copytree(case / "before" / "checkpoint", folder / "checkpoint")
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    data = folder / "data"
    _rewrite(folder / "checkpoint", case.name, data)
    is_csv = any(".csv" in f.read_text() for f in folder.rglob("sources/*/0"))
    for name in ("src", "src2"):
        _input(data / name, is_csv=is_csv)
    static = "".join(json.dumps({"k": k, "name": f"name {k}"}) + "\n" for k in "abcxyz")
    (data / "static.json").write_text(static, encoding="utf-8")
    address = _kafka(case, folder / "checkpoint", broker)
    for side in ("before", "after"):
        text = _module(case, side, data, address)
        (folder / f"{side}.py").write_text(text, encoding="utf-8")
    return folder


def _rewrite(checkpoint: Path, name: str, data: Path) -> None:
    """Let the source's list of files name the new paths."""
    for file in (checkpoint / "sources").rglob("*"):
        if file.is_file():
            text = file.read_bytes()
            file.write_bytes(text.replace(f"/data/{name}/main".encode(), str(data).encode()))


def _input(folder: Path, *, is_csv: bool) -> None:
    folder.mkdir(parents=True)
    for name, rows in (("a", FIRST), ("b", NEXT)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.json").write_text(lines, encoding="utf-8")
    if is_csv:
        (folder / "a.csv").write_text("a,1,x,2024-01-01T00:00:01\n", encoding="utf-8")


def _kafka(case: Path, checkpoint: Path, broker: Broker | None) -> str:
    """Fill the topics of a case up to its offsets, and with more; "" without any."""
    text = "".join((case / side / "query.py").read_text() for side in ("before", "after"))
    if "kraw(spark," not in text.partition("CONF =")[2] and "kn(spark," not in text:
        return ""
    name = f"truth_{case.name}_main"
    topics = {name: 6, f"{name}_2": 6}
    for file in (checkpoint / "offsets").glob("[0-9]*"):
        for topic, end in re.findall(r'"([\w.-]+)":\{"0":(\d+)\}', file.read_text()):
            topics[topic] = max(topics.get(topic, 0), int(end) + 3)
    if "recreated_fail" in case.name:
        topics[name] = 2
    assert broker is not None, f"{case.name} needs a broker"
    return broker.fill(topics, partitions=2 if "partitions_increased" in case.name else 1)


def _module(case: Path, side: str, data: Path, address: str) -> str:
    text = (case / side / "query.py").read_text(encoding="utf-8")
    function = re.findall(r"^def (\w+)\(", text, re.MULTILINE)[-1]
    topic = f"truth_{case.name}_main"
    places = {n: str(data / n) for n in ("src", "src2", "out", "out2")}
    places |= {"static": str(data / "static.json"), "topic": topic, "topic2": f"{topic}_2"}
    text = text.replace("localhost:9092", address or "127.0.0.1:1")
    return HELPERS + text + ENDING.format(function=function, **places)


def rehearse(folder: Path, seconds: int, *, rollback: bool = False) -> dict[str, Any]:
    """Run the command on a prepared case and return its JSON, or `{"error"}`."""
    command = [sys.executable, "-m", "headgate.cli.main", "rehearse", "--format", "json"]
    command += ["--checkpoint", str(folder / "checkpoint"), "--after", "after:rehearsed"]
    command += ["--conf", "spark.sql.shuffle.partitions=2", "--timeout", str(seconds)]
    command += ["--before", "before:rehearsed"] if rollback else []
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
        return {"error": lines[-1] if lines else f"exit {done.returncode}: {done.stderr[-300:]}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def our_verdict(case: Path) -> str:
    """Return what `diff` says of the case's own evidence."""
    from headgate.errors import HeadgateError
    from headgate.usecases.compare.compare_versions import compare_versions

    try:
        report = compare_versions([str(case / "before")], [str(case / "after")])
    except HeadgateError as error:
        return f"error: {error}"
    classes = [f.error_class for f in report.findings if f.outcome is report.outcome]
    named = next((c for c in classes if c), None)
    return report.outcome.word + (f" {named}" if named and report.outcome.word == "refuses" else "")


def row(case: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the table shows of a case."""
    recorded = json.loads((case / "outcome.json").read_text(encoding="utf-8"))
    engine = found.get("engine") or {"outcome": "error", "message": found.get("error")}
    was = recorded["outcome"]
    expected = "refuses" if was == "refuses" else "resumes"
    return {
        "case": case.name,
        "recorded": was + (f" {recorded['error_class']}" if was == "refuses" else ""),
        "engine": engine["outcome"] + (f" {_said(engine)}" if _said(engine) else ""),
        "ours": our_verdict(case),
        "agrees": engine["outcome"] == expected and _same_class(recorded, engine),
        "rows": _rows(engine),
        "message": engine.get("message"),
    } | (_rollback(recorded, found["rollback"]) if found.get("rollback") else {})


def _rows(engine: dict[str, Any]) -> str:
    """Return `rows in → rows out`, a dash if no batch ran."""
    counts = [engine.get("rows_in"), engine.get("rows_out")]
    if counts == [None, None]:
        return "–"
    return " → ".join("?" if n is None else str(n) for n in counts)


def _rollback(recorded: dict[str, Any], tried: dict[str, Any]) -> dict[str, Any]:
    """Return what the table shows of the rollback; recorded is only whether it ran at once."""
    was = {True: "runs", False: "fails", None: "not tried"}[recorded["rollback_ok"]]
    error = str(recorded["rollback"] or "").rpartition("FAILS ")[2] if was == "fails" else ""
    found = {"resumes": "runs", "refuses": "fails"}.get(tried["outcome"], "not verified")
    said = "on no rows" if found == "runs" and not tried["rows_in"] else tried["error_class"] or ""
    return {
        "rollback": {
            "recorded": f"{was} {error}".strip(),
            "tried": f"{found} {said}".strip(),
            "proof": tried["rollback"],
            "rules": tried["expected"],
            "removed": tried["removed"],
            "agrees": was == found,
            "rules_agree": tried["agreement"],
        }
    }


def _said(engine: dict[str, Any]) -> str:
    return str(engine.get("condition") or engine.get("error_class") or "")


def _same_class(recorded: dict[str, Any], engine: dict[str, Any]) -> bool:
    if recorded["outcome"] != "refuses":
        return True
    wanted = str(recorded["error_class"])
    names = (str(engine.get("condition")), str(engine.get("error_class")))
    return wanted in names or wanted.partition(".")[0] in names


def table(rows: Sequence[dict[str, Any]], left: Sequence[tuple[str, str]], source: str) -> str:
    """Return the table as Markdown, dated; what disagrees comes first."""
    agreed = sum(r["agrees"] for r in rows)
    lines = [
        "# Rehearsals compared with recorded restarts",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {source}. Written by `make rehearse-all`.",
        "",
        f"{agreed} of {len(rows)} rehearsals end as the recorded restart did. If Spark failed to"
        " start the query, it failed with the same error. If a restart was recorded as"
        " `silently_wrong` or `no_effect`, Spark resumes in the rehearsal: it reports no error."
        f" {len(left)} cases can't be rehearsed.",
        "",
        "| case | recorded | Spark in the rehearsal | `headgate diff` | rows in → out | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(r) for r in sorted(rows, key=lambda r: (r["agrees"], r["case"]))]
    lines += _rollback_table([r for r in rows if "rollback" in r])
    lines += ["", "| not rehearsed | reason |", "|---|---|"]
    lines += [f"| {case} | {why} |" for case, why in left]
    return "\n".join(lines) + "\n"


def _rollback_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of the rollbacks; empty if none was tried."""
    if not rows:
        return []
    agreed = sum(r["rollback"]["agrees"] for r in rows)
    lines = [
        "",
        "## Rollbacks",
        "",
        f"In {len(rows)} rehearsals, the old version was started on the copy that the new version"
        f" had changed. {agreed} of these rollbacks end as recorded. A rollback is `safe` (the old"
        " version runs), `repairable` (it runs after the listed files were deleted) or `lost`.",
        "",
        "| case | recorded | in the rehearsal | verified | expected by the rules | deleted files"
        " | |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in sorted(rows, key=lambda r: (r["rollback"]["agrees"], r["case"])):
        back = found["rollback"]
        parts = [found["case"], *(back[k] for k in ("recorded", "tried", "proof", "rules"))]
        parts += [", ".join(back["removed"]), "agrees" if back["agrees"] else "**differs**"]
        lines.append("| " + " | ".join(parts) + " |")
    return lines


def _line(found: dict[str, Any]) -> str:
    parts = [found[k] for k in ("case", "recorded", "engine", "ours", "rows")]
    return "| " + " | ".join([*parts, "agrees" if found["agrees"] else "**differs**"]) + " |"


def cases(corpus: Path, only: Sequence[str]) -> Iterator[Path]:
    """Yield the corpus's cases by name."""
    for case in sorted(corpus.iterdir()):
        if (case / "outcome.json").is_file() and (not only or case.name in only):
            yield case


def main() -> int:
    """Rehearse, write the table, and exit 1 where a case differs."""
    options = _options()
    corpus = Path(options.corpus)
    done = _read_results(options.results)
    left: list[tuple[str, str]] = []
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rehearse-corpus-")))
        broker = Broker(stack, work / "broker")
        for case in cases(corpus, options.only):
            if why := why_left_out(case.name):
                left.append((case.name, why))
            elif case.name not in done:
                folder = prepare(case, work, broker)
                done[case.name] = row(
                    case, rehearse(folder, options.timeout, rollback=options.rollback)
                )
                shutil.rmtree(folder)
                _keep(options.results, done[case.name])
    words = Counter(r["agrees"] for r in done.values())
    text = table(list(done.values()), left, _source(corpus))
    if options.table:
        Path(options.table).write_text(text, encoding="utf-8")
    print(f"{words[True]} agree, {words[False]} differ, {len(left)} can't be rehearsed")
    return 1 if words[False] else 0


def _source(corpus: Path) -> str:
    from importlib.metadata import version

    return f"PySpark {version('pyspark')}, {len(list(cases(corpus, ())))} recorded restarts"


def _read_results(file: str | None) -> dict[str, dict[str, Any]]:
    """Return what an earlier run kept: a long one can be continued."""
    if not file or not Path(file).exists():
        return {}
    rows = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
    return {r["case"]: r for r in rows}


def _keep(file: str | None, found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False), flush=True)
    if file:
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(json.dumps(found, ensure_ascii=False) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    usual = os.environ.get("REHEARSE_CORPUS") or str(KEPT)
    parser.add_argument("corpus", nargs="?", default=usual, help="a folder of cases")
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    parser.add_argument("--table", help="file to write the table of results to")
    parser.add_argument("--results", help="a file of rows; what it holds is not run again")
    parser.add_argument("--rollback", action="store_true", help="try the rollback, too")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for each")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
