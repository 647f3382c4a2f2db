"""Record what Spark does on restart after a pull request: `record_pulls.py [CASE ...]`.

A case is a folder of `tests/cases/spark_pulls` (or of DIR with `--home=DIR`): `before.py` and
`after.py` (each has `build(spark)`) and `rows.json` (what the sources get, step by step). Each case
is run with its controls and gets its evidence and its `outcome.json`;
`record_pulls.py --rule [CASE ...]` only puts rulings of `rulings.json` into outcomes, `--sums`
writes SHA256SUMS. Cases without an outcome are recorded if none is named. Needs the jars of
`make setup` and a JDK; starts a broker for topics.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "tests" / "cases"
HOME = CASES / "spark_pulls"
for _word in sys.argv[1:]:
    if _word.startswith("--home="):
        HOME = Path(_word.removeprefix("--home=")).resolve()
sys.path.insert(0, str(CASES / "spark_fresh"))

from confluent_kafka import Producer  # noqa: E402
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402
from pyspark.sql.streaming.readwriter import DataStreamWriter  # noqa: E402
from recorder import evidence  # noqa: E402
from recorder.run import Collector, Ran, note, texts  # noqa: E402

from headgate.gateway.kafka_broker.local_broker import running_broker  # noqa: E402
from headgate.local.demo.run_query import spark_jars  # noqa: E402
from headgate.spark_jobs.block_start import Unstarted  # noqa: E402
from headgate.spark_jobs.record_query import record_settings  # noqa: E402
from headgate.spark_jobs.user_functions import watch_functions  # noqa: E402

SCRATCH = Path(os.environ.get("PULLS_SCRATCH", "/tmp/headgate-pulls"))
_LAUNCH = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
    # Without C2 Java keeps 48 MB of code, which forty cases fill.
    " -XX:ReservedCodeCacheSize=256m",
    "spark.local.dir": str(SCRATCH / "local"),
    "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),
    "spark.log.level": "OFF",
    "spark.task.maxFailures": "1",
}
_BASE = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.debug.maxToStringFields": "1000000",
    "spark.sql.maxMetadataStringLength": "1000000",
}
# Nothing is compiled where nobody reads the plan: that takes most of a small batch's time. The new
# version on the old state is: only generated code fails at a stored null in a column without null.
_FASTER = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
_LONGEST = 120
# Modules read their environment while they are loaded, and cases run side by side.
_ENVIRONMENT = threading.Lock()
_AT_ONCE = 8
_LONG_NUMBER = re.compile(r"-?\d+\.\d{8,}(?:E-?\d+)?")

Step = Mapping[str, Sequence[Any]]
"""Per folder (or `kafka:TOPIC`) the rows that come at once: objects, or lines of text."""


@dataclass(frozen=True)
class Pull:
    """A changed query, and the rows that both versions read.

    `first` are the steps before the restart, `then` those after it, `tables` lie there from the
    start. `reads` are what a consumer reads of the sink in the end: pairs of format and path below
    the lake, or `kafka` and a topic; without any the sink's rows are collected.
    """

    name: str
    change: str
    first: Sequence[Step]
    then: Sequence[Step]
    tables: Step = field(default_factory=dict)
    reads: Sequence[tuple[str, str]] = ()
    files_tell: bool = True

    @property
    def folder(self) -> Path:
        """The folder with the code and the evidence."""
        return HOME / self.name

    def source(self, side: str) -> str:
        """Return the code of a version."""
        return (self.folder / f"{side}.py").read_text(encoding="utf-8")

    @property
    def topics(self) -> list[str]:
        """Topics to be created before a query starts."""
        read = [str(n) for kind, n in self.reads if kind == "kafka"]
        named = {n for step in (*self.first, *self.then) for n in step if n.startswith("kafka:")}
        return sorted({n.removeprefix("kafka:") for n in named} | set(read))


def pull(name: str) -> Pull:
    """Return the case of this name."""
    known = json.loads((HOME / name / "rows.json").read_text(encoding="utf-8"))
    return Pull(name, **known)


class Lake:
    """The sources and the output of one chain of runs: a folder, and topics of a broker."""

    def __init__(self, case: Pull, broker: str) -> None:
        self.case, self.broker = case, broker
        self.folder = SCRATCH / case.name / "lake"
        self.count = 0

    def reset(self) -> None:
        """Leave nothing but the tables, empty folders and empty topics."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for step in (*self.case.first, *self.case.then):
            for name in step:
                if not name.startswith("kafka:"):
                    (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.add(self.case.tables)
        if self.case.topics:
            self._create_topics()

    def add(self, step: Step) -> None:
        """Write one file a folder, and one record a row to topics."""
        for name, rows in step.items():
            lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
            if name.startswith("kafka:"):
                self._produce(name.removeprefix("kafka:"), lines)
                continue
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            self.count += 1
            hidden = self.folder / name / f"_{self.count}"
            hidden.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            hidden.rename(self.folder / name / f"part-{self.count:04}")

    def _create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker})
        there = admin.list_topics(timeout=10).topics
        if gone := [t for t in self.case.topics if t in there]:
            for done in admin.delete_topics(gone).values():
                done.result(20)
            time.sleep(2)
        for done in admin.create_topics([NewTopic(t, 1, 1) for t in self.case.topics]).values():
            done.result(20)

    def _produce(self, topic: str, lines: Sequence[str]) -> None:
        producer = Producer({"bootstrap.servers": self.broker})
        for line in lines:
            producer.produce(topic, value=line, partition=0)
        producer.flush(20)


@dataclass
class Found:
    """What the runs gave: the restart, its controls, and the old version after it.

    `same` is the old version restarted, `replay` the new one over everything, cut at the same
    batch, `fresh` the new one over only the new rows; None if nothing depends on it.
    """

    first: Ran
    new: Ran
    back: Ran
    written: dict[str, list[str]]
    replay: Ran | None = None
    fresh: Ran | None = None
    same: Ran | None = None


class Recording:
    """Records one case."""

    def __init__(self, case: Pull, spark: Any, broker: str, used: Any) -> None:
        self.case, self.spark, self.used = case, spark, used
        self.lake = Lake(case, broker)
        said = {str(SCRATCH / case.name): "", "/checkpoints/main": "/checkpoint"}
        self.texts = evidence.Texts(said | ({broker: "broker:9092"} if broker else {}))

    def record(self) -> Found:
        """Write `before` and `after`; return what the runs gave."""
        shutil.rmtree(SCRATCH / self.case.name, ignore_errors=True)
        for side in ("before", "after"):
            shutil.rmtree(self.case.folder / side, ignore_errors=True)
        self.lake.reset()
        self._capture("before")
        first = self._run("before", "main", self.case.first, compiles=True)
        if first.error:
            raise RuntimeError(f"the old version did not run: {first.error} {first.message}")
        into = self.case.folder / "before"
        self.texts.write(into / "explain.txt", first.plan)
        evidence.progress(first.reports, into, self.texts)
        evidence.checkpoint(self._checkpoint("main"), into / "checkpoint", self.texts)
        self._capture("after")
        return self._restart(first)

    def _restart(self, first: Ran) -> Found:
        before = self._logs("main")
        new = self._run("after", "main", self.case.then, compiles=True)
        written = {log: sorted(now - before[log]) for log, now in self._logs("main").items()}
        back = self._run("before", "main", () if new.error else self.case.then[-1:])
        found = Found(first, new, back, written, replay=self._chain("after", "replay"))
        if found.replay and found.replay.error and not new.error:
            raise RuntimeError(f"the new version fails on a new checkpoint: {found.replay.error}")
        if new.error is None and _keeps_state(new):
            self.lake.reset()
            found.fresh = self._run("after", "fresh", self.case.then)
        if (new.error and back.error) or (not new.error and _output(new) != _output(found.replay)):
            found.same = self._chain("before", "same")
        return found

    def _chain(self, side: str, name: str) -> Ran:
        """Run one version over everything, stopped and started at the same batch."""
        self.lake.reset()
        ran = self._run(side, name, self.case.first)
        return ran if ran.error else self._run(side, name, self.case.then)

    def _run(self, side: str, name: str, steps: Sequence[Step], *, compiles: bool = False) -> Ran:
        """Run a version; `compiles`: with Spark's own settings, and with its plan if it is old."""
        ran, explains = Ran(), compiles and side == "before"
        keep = Collector(ran, explains=explains)
        if steps:
            self.lake.add(steps[0])
        query = None
        try:
            session = self._session()
            for key, value in {} if compiles else _FASTER.items():
                session.conf.set(key, value)
            writer = _writer(self._build(side, session)).trigger(processingTime="0 seconds")
            if not self.case.reads:
                writer = writer.foreachBatch(keep)
            query = writer.option("checkpointLocation", str(self._checkpoint(name))).start()
            keep.started.set_result(query)
            pauses = "ProcessingTime" not in self.case.source(side)
            self._feed(query, steps[1:], pauses=pauses)
        except Exception as error:
            ran.at_start = query is None
            note(ran, error, keep.caught)
        finally:
            if query:
                ran.plan = ran.plan or (str(query._jsq.explainInternal(True)) if explains else "")
                ran.reports = list(query.recentProgress)
                query.stop()
        if self.case.reads:
            ran.seen = [row for kind, at in self.case.reads for row in self._seen(kind, at)]
        return ran

    def _feed(self, query: Any, steps: Sequence[Step], *, pauses: bool) -> None:
        """Let a query read what is there, and then each step; RuntimeError if it hangs."""
        late = threading.Timer(_LONGEST, query.stop)
        late.start()
        try:
            done = _finish(query, -1, pauses=pauses)
            for step in steps:
                self.lake.add(step)
                done = _finish(query, done, pauses=pauses)
        finally:
            if not late.is_alive():
                raise RuntimeError("the query did not end")
            late.cancel()

    def _seen(self, kind: str, at: str) -> list[str]:
        """Return the rows that a consumer of the output sees, or why it sees none."""
        try:
            if kind == "kafka":
                options = {"kafka.bootstrap.servers": self.lake.broker, "subscribe": at}
                read = self.spark.read.format("kafka").options(**options).load()
                return list(
                    texts(read.selectExpr("cast(key as string) key", "cast(value as string) v"))
                )
            return list(texts(self.spark.read.format(kind).load(f"{self.lake.folder}/{at}")))
        except Exception as error:
            return [f"UNREADABLE {at}: " + str(error).split("\n")[0][:200]]

    def _session(self) -> Any:
        session = self.spark.newSession()
        for key, value in _BASE.items():
            session.conf.set(key, value)
        return session

    def _build(self, side: str, session: Any) -> Any:
        module = types.ModuleType(f"{self.case.name}_{side}")
        path = self.case.folder / f"{side}.py"
        module.__file__ = str(path)
        with _ENVIRONMENT:
            os.environ.update(LAKE=str(self.lake.folder), BROKER=self.lake.broker)
            exec(compile(self.case.source(side), str(path), "exec"), module.__dict__)
        return module.build(session)

    def _capture(self, side: str) -> None:
        """Write what the session knows of a version before its start."""
        session, into = self._session(), self.case.folder / side
        known = dict(session.conf.getAll)
        aside = SCRATCH / self.case.name / "captured" / f"{side}.json"
        # What it says of functions is not kept: other cases' runs may add theirs meanwhile.
        writer = _writer(self._build(side, session))
        evidence.unstarted(Unstarted(writer), self.used, into, aside, self.texts)
        record_settings(writer._df, known, into)

    def _checkpoint(self, name: str) -> Path:
        return SCRATCH / self.case.name / "checkpoints" / name

    def _logs(self, name: str) -> dict[str, set[str]]:
        logs = {
            log: (self._checkpoint(name) / log).glob("[0-9]*") for log in ("offsets", "commits")
        }
        return {log: {file.name for file in files} for log, files in logs.items()}


def _finish(query: Any, done: int, *, pauses: bool) -> int:
    """Wait until a query has read all there is; return its last batch if it never pauses.

    With timers of the clock a query runs batches without end, and processAllAvailable() waits for
    one without a batch. A batch after `done` has the rows then, and a later one has none.
    """
    if pauses:
        query.processAllAvailable()
        return done
    while query.isActive:
        later = [r for r in query.recentProgress if r.batchId > done]
        read = next((r.batchId for r in later if r.numInputRows), None)
        for report in later:
            if read is not None and report.batchId > read and not report.numInputRows:
                return int(report.batchId)
        time.sleep(0.3)
    raise query.exception() or RuntimeError("the query ended")


def _writer(made: Any) -> Any:
    return made if isinstance(made, DataStreamWriter) else made.writeStream


def _keeps_state(ran: Ran) -> bool:
    return any(json.loads(report.json)["stateOperators"] for report in ran.reports)


def _output(ran: Ran | None) -> list[str] | None:
    """Return the rows that came out, in an order of their own, numbers with nine digits."""
    if ran is None or ran.error:
        return None
    return sorted(_LONG_NUMBER.sub(lambda m: f"{float(m[0]):.9g}", row) for row in ran.output)


def outcome(case: Pull, found: Found) -> dict[str, Any]:
    """Return what the controls say; where they don't decide, `outcome` is `look`."""
    new, back = found.new, found.back
    word, effect = _judged(case, found)
    return {
        "id": case.name,
        "change": case.change,
        "outcome": word,
        "state_effect": effect,
        "judged_by": "reader" if word == "look" else "controls",
        "error_class": new.error,
        "exception": new.exception,
        "error_message": new.message,
        "stage": _stage(found) if new.error else None,
        "rollback": f"FAILS {back.error}" if back.error else "runs",
        "rollback_ok": back.error is None,
        "notes": "",
        "decidable_from_files": case.files_tell,
        "proof": _evidence(found),
    }


def _judged(case: Pull, found: Found) -> tuple[str, str]:
    if found.new.error:
        broken = found.replay and found.replay.error
        return ("look", "look") if broken else ("refuses", "n/a")
    stateful = _keeps_state(found.new)
    replayed = _output(found.new) == _output(found.replay)
    anew = _output(found.new) == _output(found.fresh)
    if replayed and _only_pinned(case):
        return "no_effect", "pinned"
    if replayed and not (stateful and anew):
        return "resumes", "kept" if stateful else "none (stateless)"
    if anew and not replayed:
        return "silently_wrong", "orphaned"
    return "look", "look"


def _only_pinned(case: Pull) -> bool:
    """Say whether nothing changed but settings that the offset log records."""
    if len({_without_settings(case.source(side)) for side in ("before", "after")}) > 1:
        return False
    confs = [json.loads((case.folder / s / "conf.json").read_text()) for s in ("before", "after")]
    changed = {k for k, _ in set(confs[0].items()) ^ set(confs[1].items())}
    logs = (case.folder / "before" / "checkpoint" / "offsets").glob("[0-9]*")
    newest = max(logs, key=lambda file: int(file.name))
    recorded = json.loads(newest.read_text(encoding="utf-8").splitlines()[1])["conf"]
    return bool(changed) and changed <= recorded.keys()


def _without_settings(source: str) -> str:
    """Return the code without calls of `spark.conf.set`, which may span lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [n for n in node.body if not _sets_a_setting(n)]
    return ast.dump(tree)


def _sets_a_setting(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "spark.conf.set"


def _stage(found: Found) -> str:
    if found.new.at_start:
        return "start() call, before anything is written"
    if found.written["offsets"]:
        return f"first batch, AFTER writing offsets/{found.written['offsets'][0]} (no commit)"
    return "query thread, before writing a new offsets/ entry"


def _evidence(found: Found) -> dict[str, Any]:
    names = ("first", "new", "same", "replay", "fresh", "back")
    out: dict[str, Any] = {name: _shown(getattr(found, name)) for name in names}
    out["operators"] = [_operators(report) for report in found.new.reports]
    return out | {"written": found.written}


def _shown(ran: Ran | None) -> Any:
    if ran is None:
        return None
    if ran.error:
        return f"{ran.error}: {(ran.message or '')[:160]}"
    return ran.rows if ran.seen is None else ran.seen


def _operators(report: Any) -> Any:
    known = json.loads(report.json)
    keys = ("operatorName", "numRowsTotal", "numRowsUpdated", "numRowsDroppedByWatermark")
    states = [[state[key] for key in keys] for state in known["stateOperators"]]
    watermark = known.get("eventTime", {}).get("watermark")
    return [known["batchId"], known["numInputRows"], states, watermark]


def write_outcome(case: Pull, known: dict[str, Any]) -> None:
    """Write an outcome, with a person's ruling if there is one: outcome, state effect, notes."""
    rulings = json.loads((HOME / "rulings.json").read_text(encoding="utf-8"))
    if case.name in rulings and (known["outcome"] == "look" or not known["error_class"]):
        keys = ("outcome", "state_effect", "notes")
        known |= dict(zip(keys, rulings[case.name], strict=True)) | {"judged_by": "reader"}
    text = json.dumps(known, indent=1).replace(str(SCRATCH / case.name), "")
    (case.folder / "outcome.json").write_text(text + "\n", encoding="utf-8")


def write_sums() -> None:
    """Write the hash of every file of the recorded cases."""
    cases = sorted(file.parent for file in HOME.glob("*/outcome.json"))
    found = sorted(p for case in cases for p in case.rglob("*") if p.is_file())
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(HOME)}" for p in found]
    (HOME / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Record cases, or do what an option says."""
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    names = [word for word in sys.argv[1:] if word not in options]
    if "--sums" in options:
        write_sums()
    elif "--rule" in options:
        for name in names or [f.parent.name for f in sorted(HOME.glob("*/outcome.json"))]:
            known = json.loads((HOME / name / "outcome.json").read_text(encoding="utf-8"))
            write_outcome(pull(name), known)
    else:
        every = [file.parent for file in sorted(HOME.glob("*/rows.json"))]
        record_all(names or [f.name for f in every if not (f / "outcome.json").exists()])


def record_all(names: Sequence[str]) -> None:
    """Record these cases in one Spark process, eight at a time."""
    cases = [pull(name) for name in names]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with ExitStack() as stack:
        topics = any(case.topics for case in cases)
        broker = stack.enter_context(running_broker(SCRATCH / "kafka")) if topics else ""
        spark = stack.enter_context(_session())
        used = watch_functions()
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        for _ in pool.map(lambda case: _record(case, spark, broker, used), cases):
            pass


def _record(case: Pull, spark: Any, broker: str, used: Any) -> None:
    begun = time.monotonic()
    try:
        known = outcome(case, Recording(case, spark, broker, used).record())
        write_outcome(case, known)
        said = f"{known['outcome']} {known['error_class'] or known['state_effect']}"
    except Exception:
        said = "NOT RECORDED\n" + traceback.format_exc(limit=-4)
    print(f"{case.name}: {said} ({time.monotonic() - begun:.1f} s)", flush=True)


@contextmanager
def _session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[4]").appName("pulls")
    for key, value in {**_LAUNCH, "spark.jars": ",".join(map(str, spark_jars()))}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
