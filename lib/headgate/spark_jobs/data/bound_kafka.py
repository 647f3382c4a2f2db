"""Let a query end at offsets that are found once, at its first start, and kept in a file.

The file is `{"schema": 1, "sources": {"0": {"bound": {topic: {partition: offset}}, "begin": ...}},
"started": bool, "seconds": float, "counts": {...}}`. A query that was killed and is started again
with the same file ends at the same offsets, whatever was written to the topics since. `seconds` is
the time that it has used, `started` says that `begin` is where its first batch began, `counts` are
those of its batches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.bound_table import compile_table
from headgate.spark_jobs.data.kept_counts import BatchCounts, KeptFile
from headgate.spark_jobs.spark_reflection import elements, kind_of, set_field

Offsets = dict[str, dict[str, int]]
_END = "allDataForTriggerAvailableNow"
_WAIT_MS = 200


class BoundsFile:
    """The offsets at which a run ends, by the number of a source, and the seconds it has used.

    `until` are offsets that it ends at, where these are before the latest ones.
    """

    def __init__(self, path: Path, until: Offsets | None = None) -> None:
        self._file = KeptFile(path)
        self._until = until or {}
        found = self._file.read() or {}
        self.sources: dict[str, dict[str, Offsets]] = found.get("sources", {})
        self.seconds: float = found.get("seconds", 0.0)
        self.started: bool = found.get("started", False)
        self.counts = BatchCounts(found.get("counts"))

    def limited(self, latest: Offsets) -> Offsets:
        """Return where a source ends that has these latest offsets."""
        return {
            topic: {p: min(end, self._until.get(topic, {}).get(p, end)) for p, end in parts.items()}
            for topic, parts in latest.items()
        }

    def write(self) -> None:
        """Write it so that a crash leaves the old one or the new one."""
        found = {"schema": 1, "sources": self.sources, "started": self.started}
        self._file.write(found | {"counts": self.counts.kept, "seconds": self.seconds})

    @property
    def bounds(self) -> dict[int, Offsets]:
        """Where each source ends."""
        return {int(number): s["bound"] for number, s in self.sources.items()}

    @property
    def begins(self) -> dict[int, Offsets]:
        """Where each source was when the run began."""
        return {int(number): s["begin"] for number, s in self.sources.items()}


class BoundSources:
    """Bounds the Kafka sources of a query that is not started yet.

    `at_once` is the largest number of offsets in a batch, None for the query's own. CaptureError
    if a source isn't Kafka: nothing else can be bound. With `ends`, each batch ends at one of them,
    in their order, whatever limit the query has. An end that repeats the one before it makes the
    query run a no-data batch, if it needs one, or end. Other `ends` count at the next start. `rate`
    is the largest number of offsets per second.
    """

    def __init__(
        self,
        spark: Any,
        df: Any,
        at_once: int | None,
        ends: Sequence[Offsets] = (),
        rate: int | None = None,
    ) -> None:
        self._jvm = spark._jvm
        self._pace = self._jvm.java.util.HashMap()
        if rate is not None:
            if rate < 1:
                raise CaptureError(f"--rate: expected 1 or more, found {rate}")
            self._pace.put("rate", rate)
        self.ends = ends
        queue = self._jvm.java.util.concurrent.LinkedBlockingQueue
        self._made, self._ready = queue(), queue()
        self._stopping = self._jvm.java.util.concurrent.atomic.AtomicBoolean(False)
        self.count = 0
        replaced = {"minoffsetspertrigger": "", "maxtriggerdelay": ""}
        if at_once is not None:
            replaced |= {"maxoffsetspertrigger": str(at_once)}
        elif ends:
            replaced |= {"maxoffsetspertrigger": ""}
        self._wrap_tables(df, self._jvm.java.util.HashMap(replaced))

    def _wrap_tables(self, df: Any, replaced: Any) -> None:
        constructor = compile_table(self._jvm)
        plans = df._jdf.logicalPlan(), df._jdf.queryExecution().analyzed()
        tables: dict[int, Any] = {}
        for leaf in (leaf for plan in plans for leaf in elements(plan.collectLeaves())):
            kind = kind_of(leaf)
            if not kind.startswith("StreamingRelation") or _is_bound(leaf):
                continue
            if kind != "StreamingRelationV2" or str(leaf.sourceName()) != "kafka":
                raise CaptureError(_not_bound(leaf, kind))
            same = int(self._jvm.System.identityHashCode(leaf))
            if same not in tables:
                tables[same] = self._table(constructor, leaf, replaced)
            set_field(leaf, "table", tables[same])

    def replaced(self, leaf: Any) -> dict[str, str]:
        """Return the options of a source that are replaced; an empty one is left out."""
        return {}

    def _table(self, constructor: Any, leaf: Any, shared: Any) -> Any:
        replaced = self._jvm.java.util.HashMap(shared)
        for name, value in self.replaced(leaf).items():
            replaced.put(name, value)
        shared = (self._made, self._ready, self._stopping, self._pace)
        given = (leaf.table(), self.count, replaced, *shared)
        self.count += 1
        return constructor.newInstance(_array(self._jvm, given))

    def stop(self) -> None:
        """Give the query no further data, so that it ends between two batches."""
        self._stopping.set(True)

    def bind(self, query: Any, bounds: BoundsFile) -> None:
        """Set where each source of a query ends that was just started; find it at first.

        Returns early if the query ends before that.
        """
        units = self._jvm.java.util.concurrent.TimeUnit.MILLISECONDS
        done = 0
        while done < self.count and query.isActive():
            handed = self._made.poll(_WAIT_MS, units)
            if handed is None:
                continue
            number, stream = str(handed[0]), handed[1]
            if self.ends:
                self._ready.put(self._batches(number, stream, bounds))
            else:
                self._bind_one(number, stream, bounds)
                self._ready.put(True)
            done += 1

    def _batches(self, number: str, stream: Any, bounds: BoundsFile) -> Any:
        """Return the ends of a source's batches as a queue; the last one is its bound."""
        convert = self._jvm.org.apache.spark.sql.kafka010.JsonUtils
        begin = json.loads(stream.initialOffset().json())
        queue, own = self._jvm.java.util.LinkedList(), {}
        for end in self.ends:
            own = {t: parts for t, parts in end.items() if t in begin or self.count == 1}
            if not own:
                raise CaptureError(
                    f"the running version's batches have no offsets of {', '.join(sorted(begin))}, "
                    f"which source {number} of the new version reads. Use `headgate plan "
                    "offline-upgrade`"
                )
            queue.add(convert.partitionOffsets(json.dumps(own)))
        bounds.sources.setdefault(number, {"begin": begin})["bound"] = own
        return queue

    def _bind_one(self, number: str, stream: Any, bounds: BoundsFile) -> None:
        convert = self._jvm.org.apache.spark.sql.kafka010.JsonUtils
        known = bounds.sources.get(number)
        if known is not None:
            set_field(stream, _END, convert.partitionOffsets(json.dumps(known["bound"])))
            return
        # As the stream itself asks: its own servers, topics and isolation level.
        latest = stream.kafkaOffsetReader().fetchLatestOffsets(self._jvm.scala.Option.empty())
        end = bounds.limited(json.loads(convert.partitionOffsets(latest)))
        set_field(stream, _END, convert.partitionOffsets(json.dumps(end)))
        bounds.sources[number] = {
            "bound": end,
            "begin": json.loads(stream.initialOffset().json()),
        }
        bounds.write()


def _not_bound(leaf: Any, kind: str) -> str:
    """Say which source has no end that can be set; Spark's older API has Kafka, too."""
    if kind == "StreamingRelationV2":
        name = str(leaf.sourceName())
    elif kind == "StreamingRelation":
        name = f"{leaf.dataSource().className()} (DataSource V1)"
    else:
        name = kind
    return (
        f"Headgate can set an end only for Kafka sources (DataSource V2), not for the source {name}"
        ". Without Headgate, a query with other sources ends with Trigger.AvailableNow"
    )


def _is_bound(leaf: Any) -> bool:
    if kind_of(leaf) != "StreamingRelationV2":
        return False
    return str(leaf.table().getClass().getName()) == "BoundTable"


def _array(jvm: Any, values: tuple[Any, ...]) -> Any:
    """Return a Java array of objects."""
    return jvm.java.util.ArrayList(list(values)).toArray()
