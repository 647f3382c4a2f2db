"""Spark programs that process data for a step, in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from headgate.model.output_comparison import OutputComparison


class JobOutcome(StrEnum):
    """How a program ended: STOPPED before its end because it was asked to or its time was over."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkJob:
    """The module `program` of `headgate.spark_jobs.data` and its command-line `arguments`.

    `what` names the work in messages, such as "the bounded run of orders". `config` are Spark
    settings that it needs; those of `[spark.config]` win. `delta` says that it uses Delta tables.
    `database` is the NAME of `[jdbc.NAME]` that it reads or writes: it gets the url, user and
    password.
    """

    program: str
    arguments: tuple[str, ...]
    what: str
    config: Mapping[str, str] = field(default_factory=dict)
    delta: bool = False
    database: str | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a program reports at its end; `error` is one line, empty unless it FAILED.

    `facts` are the program's own JSON values, also of one that failed: what was done until then.
    """

    outcome: JobOutcome
    facts: Mapping[str, Any]
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A range of offsets of a partition, and its first and last event time (Unix milliseconds).

    The times are None if no record of it has one.
    """

    topic: str
    partition: int
    begin: int
    end: int
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimes:
    """What a query's input holds; see `spark_jobs.data.measure_times`.

    `result_time` is the column with a result's time, None if no single one is found. It
    `is_event_time` if results of a range come from records of this range. `columns` are the
    result's, and `types` those of the columns, in Spark's words. `delay_ms` is the longest time
    that a watermark waits.
    """

    slices: tuple[Slice, ...]
    column: str
    is_exact: bool
    result_time: str | None
    columns: tuple[str, ...]
    is_event_time: bool = True
    delay_ms: int = 0
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LateTouch:
    """What late records touch; see `spark_jobs.data.late.measure_late`.

    `late` records were read: `repeated` came before among them, `in_input` are in the input too,
    the rest is `new`. They touch `pairs` of a key and a window (as many as `keys`, if results have
    no time), by the result's `columns`. `first` and `last` are the event times before the watermark
    (Unix milliseconds), also of other inputs; None: the query has no watermark, or no column is its
    window. `rows`, `files` and `bytes` are the target's; a table has only rows. `assumed` are
    sentences. `types` are those of the result's columns, in Spark's words. `nulls` are the columns
    of a table in which a touched key has no value.
    """

    late: int
    repeated: int
    in_input: int
    new: int
    keys: int
    pairs: int
    sample: tuple[Mapping[str, str | None], ...]
    columns: tuple[str, ...]
    time: str | None
    first: int | None
    last: int | None
    rows: int
    touched_rows: int
    files: int
    touched_files: int
    bytes: int
    touched_bytes: int
    assumed: tuple[str, ...]
    types: Mapping[str, str] = field(default_factory=dict)
    nulls: tuple[str, ...] = ()


class SparkJobInspector(Protocol):
    """What a plan may ask of them."""

    def event_times(self, job: SparkJob, topics: Mapping[str, str | None]) -> EventTimes:
        """Return what the program `measure_times` finds.

        It is remembered for the same job over the same `topics` (ids by name), as long as the code
        that ran is unchanged. RefusedError says what is wrong with the query or the offsets.
        """

    def check_import(self, function: str) -> None:
        """Import MODULE:FUNCTION as a program does; RefusedError if that fails."""

    def late_touch(self, job: SparkJob, inputs: Mapping[str, str | None]) -> LateTouch:
        """Return what the program `late.measure_late` finds.

        It is remembered as `event_times` is; `inputs` are ids of topics, hashes of folders and
        contents of tables.
        """

    def master(self) -> str:
        """Return where programs run: `[spark] master`, `local[*]` unless it is configured."""


class SparkJobApplier(SparkJobInspector, Protocol):
    """What a step may do with them."""

    def run(
        self, job: SparkJob, on_report: Callable[[Mapping[str, Any]], None] = lambda _report: None
    ) -> JobResult:
        """Run a program and return what it wrote as its result.

        It runs with the worker's environment (credentials included), in the folder of
        headgate.toml, on the configured master. Each progress report goes to `on_report`. Its
        `done`, `total` and `unit`, and its `note`, are shown on the Runs page already.

        The program dies with the worker. Whoever resumes the run starts it again from its own
        checkpoint: what is left of an earlier process is ended first. A cancelled run asks the
        program to stop at its next safe point, kills it after a while, and raises
        RunCancelledError. StepError: it died without a result; the message has its last words.
        """

    def compare(
        self,
        a: str,
        b: str,
        *,
        keys: Sequence[str],
        tolerance: float = 0.0,
        ignore: Sequence[str] = (),
        newest: bool = False,
    ) -> OutputComparison:
        """Compare two outputs as `headgate compare-output` does.

        With `newest`, only the newest record of each key of a topic counts. StepError says what
        can't be read or compared.
        """
