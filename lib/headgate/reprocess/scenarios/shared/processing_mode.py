"""Whether Spark processes records as a batch or as a stream, and what the plan says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.version import OperatorKind, Version
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.reprocess.scenarios.shared.common import at_least, batch_limits
from headgate.reprocess.scenarios.shared.processed_records import (
    Ranges,
    other_in_batches,
    unknown_state,
)
from headgate.text.numbers import as_records, duration, name_list, plural, size
from headgate.text.risk import Risk

BATCH, STREAM = "batch", "stream"
MANY = 100_000
"""Minimum number of records of a run whose load on the brokers is worth a sentence."""
# A batch of a stream must fit the state store's memory and be worth its commit.
_AT_MOST = 100_000
# A batch with a rate limit has the records of so many seconds: smaller ones drop more as late.
_RATE_SECONDS = 5
_AGGREGATES = frozenset({OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE})

AS = Option(
    name="as",
    ask="Processing mode",
    help="How Spark processes the records (default: as a batch if all operators have the same "
    "results in a batch as in a stream, else as a stream).",
    kind=Kind.CHOICE,
    choices=(BATCH, STREAM),
)
MAX_RECORDS = Option(
    name="max-records",
    ask="Maximum records per micro-batch (only stream)",
    help="Maximum number of records in a batch of the stream. Default: `maxOffsetsPerTrigger` of "
    f"the query, but with --rate at most {_RATE_SECONDS} seconds' worth of records. Without both: "
    f"{_AT_MOST}.",
    kind=Kind.NUMBER,
    metavar="COUNT",
)
RATE = Option(
    name="rate",
    ask="Maximum records per second (only stream)",
    help="Rate limit of a stream in records per second (default: none).",
    kind=Kind.NUMBER,
    metavar="N",
)


AS_BATCH = Risk("Spark processes the records as a batch, because {reason}")
AS_STREAM = Risk(
    "Spark processes the records as a stream, because {reason}. Each batch ends at the same "
    "record timestamp in all partitions, and has at most {records}",
    records="N records",
)
LATE_DROPPED = Risk(
    "Spark drops records older than the watermark, as in the running query. The run counts "
    "the dropped records. With smaller batches, the watermark advances more often, so Spark "
    "may drop more records"
)
LAST_ROWS = Risk(
    "{emits}. The run keeps the last row of each key (key columns: {columns})",
    emits="in update mode a key can have several rows",
    columns="KEY_COLUMNS",
)
COMPLETE_MODE = Risk("in complete mode, the results are the rows of the last batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingMode:
    """`stream` is what a processing step takes, None for a batch; `blockers` say why not."""

    stream: dict[str, Any] | None
    why: str
    output_mode: str = "append"
    blockers: tuple[str, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether it is one."""
        return self.stream is not None

    @property
    def limit(self) -> str:
        """The options that limit how fast it reads."""
        return "--rate" if self.is_stream else "--rate with --as stream"

    def risks(self, version: Version) -> list[str]:
        """Return how the records are processed, and what comes of it."""
        if self.stream is None:
            return [AS_BATCH(reason=self.why)]
        found = [AS_STREAM(reason=self.why, records=plural(self.stream["max_records"], "record"))]
        if version.watermarks and version.stateful:
            found.append(LATE_DROPPED())
        if rate := self.stream.get("rate"):
            found.append(rate_risk(rate, self.stream["max_records"]))
        if self.stream["keys"]:
            found.append(LAST_ROWS(emits=self._emits(), columns=name_list(self.stream["keys"])))
        elif self.output_mode == "complete":
            found.append(COMPLETE_MODE())
        return found

    def _emits(self) -> str:
        return f"in {self.output_mode} mode a key can have several rows"


RATE_LIMITED = Risk(
    "the run reads at most {rate} records/s on average: each batch of {records} starts at "
    "least {time} after the previous batch. Within a batch, Spark reads without a limit",
    rate="N",
    records="N records",
)


def rate_risk(rate: int, at_most: int) -> str:
    """Say how a stream keeps the limit."""
    seconds = at_most / rate
    shown = f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.3g} ms"
    each = plural(at_most, "record")
    return RATE_LIMITED(rate=rate, records=each, time=shown)


LEAST_SECONDS = Risk("with this rate limit, the run takes at least {time}")


def least_seconds(request: PlanRequest, records: int) -> list[str]:
    """Say how long a run with a rate limit takes at least; `records` are those that it reads."""
    rate = at_least(request.options, "rate", 1, None)
    if not rate or not records:
        return []
    if records < rate:
        return []
    least = duration(records * 1000 // rate)
    return [LEAST_SECONDS(time=least)]


LOAD_ON_BROKERS = Risk(
    "the run reads {records}{about} from the brokers as fast as Spark can. To limit the load, "
    "{option}set the quota consumer_byte_rate for the query's Kafka user",
    records="up to N records",
    about=" (about BYTES)",
    option="pass OPTION, or ",
)
READ_QUOTA = Risk(
    "a quota of Kafka limits Headgate's user to {bytes}/s. If the query has the same user, "
    "the run takes at least {time}"
)


def load_risks(
    request: PlanRequest, topics: Mapping[str, Topic], ranges: Ranges, *, limit: str, times: int = 1
) -> list[str]:
    """Say what the run reads from the brokers `times` times, if that is much, and what limits it.

    `limit` are the options of the scenario that limit it; empty: none.
    """
    counts = {
        name: times * sum(end - begin for begin, end in ranges.get(name, {}).values())
        for name in topics
    }
    if (total := sum(counts.values())) < MANY:
        return []
    sizes = request.inspector.kafka.topic_bytes(counts)
    each = [
        n * bytes_ / every if (bytes_ := sizes[t]) and (every := topics[t].records) else None
        for t, n in counts.items()
        if n
    ]
    known = None if None in each else sum(e for e in each if e is not None)
    found = []
    if request.options.get("rate") is None:
        about = f" (about {size(known)})" if known else ""
        pass_ = f"pass {limit}, or " if limit else ""
        found.append(LOAD_ON_BROKERS(records=as_records(total), about=about, option=pass_))
    if known and (quota := request.inspector.kafka.read_quota()):
        least = duration(round(known * 1000 / quota))
        found.append(READ_QUOTA(bytes=size(quota), time=least))
    return found


def choose(request: PlanRequest, version: Version, keys: Sequence[str]) -> ProcessingMode:
    """Return how the records are processed; `keys` are the columns of a result's key."""
    if blockers := unknown_state(request, version):
        return ProcessingMode(stream=None, why="", blockers=tuple(blockers))
    asked = request.options.get("as")
    others = name_list(other_in_batches(version))
    if asked == BATCH and others:
        reason = (
            f"--as batch: the query uses {others}, and in a batch its results would differ from "
            "those of the stream"
        )
        return ProcessingMode(
            stream=None, why="", blockers=(f"{reason}. Use --as stream, or omit the option",)
        )
    if asked != STREAM and not others:
        return _as_batch(request, asked)
    mode = _output_mode(version)
    why = "you passed --as stream"
    if others:
        why = f"the results of {others} would be different in a batch"
    blockers = []
    if mode == "update" and not keys and any(o.kind in _AGGREGATES for o in version.stateful or ()):
        batch = "" if others else ". Or use --as batch"
        blockers.append(
            "as a stream, a query in update mode emits a row for each change of a result. To keep "
            f"only the last row, pass the key columns of a result with --keys{batch}"
        )
    rate = at_least(request.options, "rate", 1, None)
    stream = {"max_records": _at_most(request, version, rate), "keys": list(_kept(mode, keys))}
    stream |= {"rate": rate} if rate else {}
    return ProcessingMode(stream=stream, why=why, output_mode=mode, blockers=tuple(blockers))


def _as_batch(request: PlanRequest, asked: str | None) -> ProcessingMode:
    why = "all operators of the query have the same results in a batch as in a stream"
    if asked:
        why = "you passed --as batch"
    blockers = []
    if "max-records" in request.options:
        blockers.append("--max-records needs --as stream. Pass both, or omit --max-records")
    if at_least(request.options, "rate", 1, None) is not None:
        blockers.append(
            "--rate: Spark can't limit a batch. Pass --as stream, or omit the option and set a "
            "quota on the brokers"
        )
    return ProcessingMode(stream=None, why=why, blockers=tuple(blockers))


def _kept(mode: str, keys: Sequence[str]) -> Sequence[str]:
    """Return the keys whose last row counts: in append mode, every row is a result."""
    return keys if mode == "update" else ()


def _output_mode(version: Version) -> str:
    sink = version.sink.output_mode if version.sink else None
    return (version.output_mode or sink or "append").lower()


def _at_most(request: PlanRequest, version: Version, rate: int | None) -> int:
    if (given := at_least(request.options, "max-records", 1, None)) is not None:
        return given
    return min(
        [*batch_limits(version), *([rate * _RATE_SECONDS] if rate else [])], default=_AT_MOST
    )


LOAD_RISKS = (
    LOAD_ON_BROKERS,
    READ_QUOTA,
)
RISKS = (
    AS_BATCH,
    AS_STREAM,
    LATE_DROPPED,
    LAST_ROWS,
    COMPLETE_MODE,
    RATE_LIMITED,
)
