"""Find the records at which a function fails, by running it over ever smaller offset ranges.

Only what works record by record is run: the query without its deduplications, up to its first
aggregation or other operator that needs several records, with the values that an aggregation takes
from a record. A record fails if this part and the whole query raise an error over the record by
itself. An error that only a group of records makes, or a value that no result needs, is therefore
not reported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.engine_error import PYTHON_FAILED, StopCause, stop_cause
from headgate.spark_jobs.failing.row_wise_plan import (
    BEGINS,
    kafka_leaves,
    row_wise,
    without_deduplication,
)
from headgate.spark_jobs.spark_reflection import set_field
from headgate.text.numbers import plural
from headgate.text.secrets import mask_text

_LONGEST = 500
_OPTIONS = ("assign", "startingoffsets", "endingoffsets")
# A search that continues after a record begins with so many offsets.
_FIRST_STEP = 256
# Others are tried up to so many powers of two away from a record.
_FAR = 10
Ranges = Mapping[str, Mapping[int, tuple[int, int]]]
"""The first offset and the end offset (exclusive), by topic and partition."""
Error = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FailingRecord:
    """A record that raises an error, and the error's class and message."""

    topic: str
    partition: int
    offset: int
    error_class: str
    message: str


class FailingRecords:
    """Searches in a query that was built over `spark.read`; `rows` is its DataFrame.

    `on_progress(done)` is called with the number of offsets that are searched, and may raise.
    """

    def __init__(
        self, spark: Any, rows: Any, most: int, on_progress: Callable[[int], None] = lambda _: None
    ) -> None:
        self._spark, self._most, self._on_progress = spark, most, on_progress
        self._whole = rows._jdf.queryExecution().analyzed()
        self._parts = row_wise(spark, without_deduplication(spark, self._whole))
        plans = (self._whole, *self._parts)
        self._leaves = [(leaf, leaf.options()) for p in plans for leaf in kafka_leaves(p)]
        self._done = self._others = 0
        self.tries = 0

    def find(self, ranges: Ranges) -> list[FailingRecord]:
        """Return the records of the ranges that fail, by topic, partition and offset.

        CaptureError if more than `most` fail, or if the query fails without any record. An error of
        the surroundings, such as a broker that is away, is raised as it is.
        """
        try:
            if self._error(ranges) is None:
                return []
            # A value that no result needs may fail in the parts alone.
            if self._parts[0] is not self._whole and self._error(ranges, [self._whole]) is None:
                return []
            if error := self._error({}):
                raise CaptureError(f"the function fails even without records: {': '.join(error)}")
            return self._confirmed(self._found(ranges))
        finally:
            self._restore()

    def confirmed(self, records: list[FailingRecord]) -> list[FailingRecord]:
        """Return those of the records that still fail."""
        try:
            return self._confirmed(records)
        finally:
            self._restore()

    def _confirmed(self, records: list[FailingRecord]) -> list[FailingRecord]:
        # An error that has gone meanwhile was one of a service that was away.
        return [
            r for r in records if self._error({r.topic: {r.partition: (r.offset, r.offset + 1)}})
        ]

    def _restore(self) -> None:
        """Let the sources read what they read before: the function may have kept one."""
        for leaf, options in self._leaves:
            set_field(leaf, "options", options)

    def _found(self, ranges: Ranges) -> list[FailingRecord]:
        found: list[FailingRecord] = []
        for topic, parts in sorted(ranges.items()):
            for number, (begin, end) in sorted(parts.items()):
                for record in self._search(topic, number, begin, end):
                    if not found:
                        self._check_others(record, begin, end)
                    found.append(record)
                    if len(found) > self._most:
                        raise CaptureError(_too_many(found, self._most))
        return found

    def _search(self, topic: str, number: int, begin: int, end: int) -> Iterator[FailingRecord]:
        """Yield the failing records of a range, in their order."""
        before = self._done

        def fails(first: int, after: int) -> Error | None:
            return self._error({topic: {number: (first, after)}})

        at = begin
        while at < end and fails(at, end) is not None:
            at = first_failing(lambda b, e: fails(b, e) is not None, at, end)
            one = {topic: {number: (at, at + 1)}}
            error = self._error(one)
            if error is not None and self._error(one, [self._whole]) is not None:
                yield FailingRecord(topic, number, at, *error)
            else:
                self._pass_over(topic, number, at)
            at += 1
            self._done = before + at - begin
        self._done = before + end - begin

    def _pass_over(self, topic: str, number: int, at: int) -> None:
        """Count a record that fails only with others, or whose error no result needs."""
        self._others += 1
        if self._others > self._most:
            raise CaptureError(
                f"{self._others} records seemed to fail, but the query could process each record "
                f"by itself (the last is {topic}[{number}]@{at}). Headgate can leave out only "
                "records that fail by themselves"
            )

    def _check_others(self, record: FailingRecord, begin: int, end: int) -> None:
        """CaptureError if all others that are tried fail by themselves, too.

        Then the function may need several records at once, and this one may be good.
        """
        topic, number, at = record.topic, record.partition, record.offset
        far = [1 << n for n in range(_FAR) if 1 << n < end - begin]
        others = (n for d in far for n in (at + d, at - d) if begin <= n < end)
        is_tried = False
        for one in ({topic: {number: (n, n + 1)}} for n in others):
            if not self._has_record(topic, one):
                continue
            if self._error(one) is None:
                return
            is_tried = True
        if is_tried:
            raise CaptureError(
                "the function fails on every record that Headgate tried one at a time, for example "
                f"{topic}[{number}]@{at}: {record.error_class}: {record.message}. The function may "
                "need several records in a batch"
            )

    def _has_record(self, topic: str, one: Ranges) -> bool:
        """Whether an offset has a record; there are none of transactions' ends, for example."""
        for leaf, _ in self._leaves:
            if topic in json.loads(str(leaf.options().get(BEGINS))):
                self._read(leaf, one)
                return int(self._dataset(leaf).count()) > 0
        return False

    def _error(self, parts: Ranges, plans: list[Any] | None = None) -> Error | None:
        """Run the plans over these offsets; return class and message of what they raise."""
        self.tries += 1
        self._on_progress(self._done)
        for plan in self._parts if plans is None else plans:
            for leaf in kafka_leaves(plan):
                self._read(leaf, parts)
            try:
                self._dataset(plan).write().format("noop").mode("overwrite").save()
            except Exception as error:
                found = stop_cause(error)
                if found.is_around or _is_of_kafka(found):
                    raise
                return _class_and_message(found)
        return None

    def _dataset(self, plan: Any) -> Any:
        dataset = self._spark._jvm.org.apache.spark.sql.classic.Dataset
        return dataset.ofRows(self._spark._jsparkSession, plan)

    def _read(self, leaf: Any, parts: Ranges) -> None:
        """Let a Kafka source read these offsets of its partitions, and none of the others."""
        given = self._spark._jvm.java.util.HashMap(leaf.options().asCaseSensitiveMap())
        begins = json.loads(str(leaf.options().get(BEGINS)))
        own = {
            topic: {n: r for n, r in parts.get(topic, {}).items() if str(n) in numbers}
            for topic, numbers in begins.items()
        }
        own = {topic: numbers for topic, numbers in own.items() if numbers}
        if not own:
            # A source reads a partition at least: of this one nothing.
            topic = next(t for t, numbers in sorted(begins.items()) if numbers)
            number, begin = next(iter(sorted(begins[topic].items())))
            own = {topic: {int(number): (begin, begin)}}
        for key in list(given):
            if str(key).lower() in _OPTIONS:
                given.remove(key)
        given.put("assign", json.dumps({t: sorted(numbers) for t, numbers in own.items()}))
        given.put("startingOffsets", _side(own, 0))
        given.put("endingOffsets", _side(own, 1))
        options = self._spark._jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(given)
        set_field(leaf, "options", options)


def _side(ranges: Ranges, side: int) -> str:
    return json.dumps({t: {n: r[side] for n, r in parts.items()} for t, parts in ranges.items()})


def first_failing(fails: Callable[[int, int], bool], begin: int, end: int) -> int:
    """Return the first offset of a range that fails; the range as a whole does.

    It reads little more than the records before that offset: `fails` gets ranges that grow, then
    halves of the last one. If an error needs several records, the offset is one of theirs.
    """
    size = _FIRST_STEP
    while begin + size < end:
        if fails(begin, begin + size):
            end = begin + size
            break
        begin, size = begin + size, size * 2
    while end - begin > 1:
        middle = (begin + end) // 2
        if fails(begin, middle):
            end = middle
        else:
            begin = middle
    return begin


def leave_out(rows: Any, records: list[FailingRecord]) -> Any:
    """Return the rows of a Kafka source without these records."""
    from pyspark.sql import functions as f

    by_part: dict[tuple[str, int], list[int]] = {}
    for one in records:
        by_part.setdefault((one.topic, one.partition), []).append(one.offset)
    for (topic, number), offsets in by_part.items():
        is_part = (f.col("topic") == topic) & (f.col("partition") == number)
        rows = rows.where(~(is_part & f.col("offset").isin(offsets)))
    return rows


def found_before(kept: Any, made_of: dict[str, str]) -> list[FailingRecord] | None:
    """Return the records of a document of the same function and offsets; else None."""
    if kept is None or kept["made_of"] != made_of:
        return None
    return [FailingRecord(**one) for one in kept["records"]]


def found_document(records: list[FailingRecord], made_of: dict[str, str]) -> dict[str, Any]:
    """Return what is kept of a search."""
    return {"records": [asdict(one) for one in records], "made_of": made_of}


def _is_of_kafka(found: StopCause) -> bool:
    """Whether Kafka doesn't give a record, as one that has expired: then no function failed."""
    if found.message.startswith(PYTHON_FAILED):
        return False
    is_lost = "KAFKA" in (found.condition or "") or "may have been lost" in found.message
    return is_lost or found.error_class.startswith("org.apache.kafka.")


def _class_and_message(found: StopCause) -> Error:
    """Return the class of an error and its message, of a Python function those of its own error."""
    own = found.message.removeprefix(PYTHON_FAILED)
    name, colon, said = own.partition(": ")
    if own != found.message and colon:
        return name, mask_text(said)[:_LONGEST]
    return found.condition or found.error_class, mask_text(own)[:_LONGEST]


def _too_many(found: list[FailingRecord], most: int) -> str:
    first = found[0]
    verb = "fails" if most == 1 else "fail"
    return (
        f"more than {plural(most, 'record')} {verb}. The first one is at "
        f"{first.topic}[{first.partition}]@{first.offset}: {first.error_class}: {first.message}. "
        "To leave out more records, plan with a larger --max-failing"
    )
