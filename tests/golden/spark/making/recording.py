"""Write down what a query says of itself, before its start and after its last batch."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from headgate.spark_jobs.block_sources import EmptyFolders
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.record_query import RecordFolder, explicable, record
from headgate.spark_jobs.user_functions import UsedFunctions

_METADATA = re.compile(
    r"(?:^|/)(?:metadata|_metadata/.*|_stateSchema/.*|offsets/\d+|commits/\d+|sources/.*)$"
)


class Texts:
    """Writes files without the names of this machine: `/data` and `broker` instead."""

    def __init__(self, root: Path, broker: str) -> None:
        self.said = {str(root): "/data", broker: "broker:9092"}

    def clean(self, text: str) -> str:
        """Return `text` with other names."""
        for found, put in self.said.items():
            text = text.replace(found, put)
        return text

    def write(self, path: Path, text: str) -> None:
        """Write a text file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.clean(text).rstrip("\n") + "\n", encoding="utf-8")


def explained(spark: Any, execution: Any, mode: str) -> str:
    """Return what `explain(mode)` prints of a query execution."""
    return str(spark._jvm.PythonSQLUtils.explainString(execution, mode))


def compact(text: str) -> str:
    """Return JSON without the blanks."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def unstarted(
    query: Unstarted, used: UsedFunctions, into: Path, scratch: Path, texts: Texts
) -> None:
    """Write what a session knows before the start, as `headgate capture` does; then other forms."""
    frame = query.writer._df
    into.mkdir(parents=True)
    record(frame, query, used, EmptyFolders(scratch), RecordFolder(into, scratch))
    for file in into.iterdir():
        texts.write(file, file.read_text(encoding="utf-8"))
    execution = explicable(frame)
    for mode in ("simple", "cost"):
        texts.write(into / f"{mode}.txt", explained(frame.sparkSession, execution, mode))


def shortened(line: str) -> str:
    """Return an event without its stack trace and the plan's metrics, which are most of it."""
    event = json.loads(line)
    kept = {k: v for k, v in event.items() if k not in ("details", "sparkPlanInfo")}
    return json.dumps(kept, separators=(",", ":"))


def batch(spark: Any, query: StreamingQuery, into: Path, codegen: bool, texts: Texts) -> None:
    """Write what the last batch ran."""
    texts.write(into / "explain.txt", str(query._jsq.explainInternal(True)))
    execution = query._jsq.streamingQuery().lastExecution()
    for mode in ("formatted", *(["codegen"] if codegen else [])):
        texts.write(into / f"{mode}.txt", explained(spark, execution, mode))
    texts.write(into / "physical.json", compact(str(execution.executedPlan().toJSON())))
    if reports := [json.loads(p.json) for p in query.recentProgress]:
        texts.write(into / "progress.json", json.dumps(reports[-1:], indent=1))


def checkpoint(found: Path, into: Path, texts: Texts) -> None:
    """Copy a checkpoint's metadata, no state and no offsets but the last two batches'."""
    last = max((int(p.name) for p in (found / "offsets").glob("[0-9]*")), default=0)
    for file in sorted(p for p in found.rglob("*") if p.is_file()):
        name = str(file.relative_to(found))
        if not _METADATA.search(name) or file.name.endswith(".crc"):
            continue
        if name.startswith(("offsets/", "commits/")) and int(file.name) < last - 1:
            continue
        data = file.read_bytes()
        is_text = not name.startswith("state/") or name.endswith(("/metadata", "/v2/0"))
        if not is_text:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, into / name)
        else:
            texts.write(into / name, data.decode("utf-8"))


_KEPT = ("SparkListenerSQLExecutionEnd", "SparkListenerSQLAdaptiveExecutionUpdate")


def events(log: Path, run: str, into: Path, texts: Texts) -> None:
    """Write the lines of the event log that are of one run's last batch, and the log's first."""
    kept: list[str] = []
    batches: list[tuple[int, str]] = []
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        kind = str(event["Event"]).rpartition(".")[2].rpartition("$")[2]
        if kind == "SparkListenerLogStart" or (run in line and kind.startswith("Query")):
            kept.append(line)
        elif kind == "SparkListenerSQLExecutionStart" and event.get("jobGroupId") == run:
            batches.append((event["rootExecutionId"], line))
        elif kind in _KEPT and event.get("executionId") in {root for root, _ in batches}:
            batches.append((event["executionId"], line))
    last = max((root for root, _ in batches), default=None)
    own = [line for root, line in batches if root == last]
    progress = [line for line in kept if "QueryProgressEvent" in line][-1:]
    others = [line for line in kept if "QueryProgressEvent" not in line]
    begun, ended = others[:2], others[2:]
    texts.write(into / "events.jsonl", "\n".join(map(shortened, [*begun, *own, *progress, *ended])))
