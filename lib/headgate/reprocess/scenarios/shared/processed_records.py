"""Scenarios that have Spark process records: what they need of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.model.version import OperatorKind, Source, Version
from headgate.reprocess.conditions import no_entry_point
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.text import numbers
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk
from headgate.text.times import duration, earlier, from_milliseconds, later

Ranges = dict[str, dict[str, tuple[int, int]]]
"""The first offset and the one after the last, by topic and partition."""

ACCEPT_EXPIRED = Option(
    name="accept-expired",
    ask="Accept results that lack expired records",
    help="Process the records even if older input records of the range are past retention. The "
    "results lack these records.",
    kind=Kind.FLAG,
)

# A batch gives what the engine gives once all records are there; of the others it doesn't.
_SAME_IN_BATCHES = frozenset(
    {
        OperatorKind.AGGREGATE,
        OperatorKind.SESSION_AGGREGATE,
        OperatorKind.STREAM_JOIN,
        OperatorKind.DEDUPLICATE,
    }
)
# A run may start a day after its plan. One of unknown speed reads so many records/s.
_SOON_MS, _MINUTE_MS = 86_400_000, 60_000
_SLOW = 1000
# What Spark's API calls the others.
_OPERATIONS = {
    OperatorKind.DEDUPLICATE_WITHIN_WATERMARK: "dropDuplicatesWithinWatermark",
    OperatorKind.LIMIT: "limit()",
    OperatorKind.MAP_GROUPS: "mapGroupsWithState",
    OperatorKind.TRANSFORM_WITH_STATE: "transformWithState",
}


def source_blockers(request: PlanRequest) -> list[str]:
    """Return why the pipeline's function can't be run over chosen offsets."""
    pipeline, version = request.pipeline, request.version
    function = pipeline.entry_point
    if function is None:
        return [no_entry_point(pipeline)]
    if version is None or not version.sources:
        return [
            f"no stored version shows the sources of {pipeline.name}. Run `headgate capture "
            f"{function} --pipeline {pipeline.name}`"
        ]
    others = [s.format or "unknown" for s in version.sources if s.format != "kafka"]
    if others:
        return [
            f"{request.scenario} needs Kafka sources, but {pipeline.name} has sources of format "
            f"{name_list(others)}"
        ]
    if any(s.pattern or _is_assigned(s) for s in version.sources):
        return [
            f"{pipeline.name} has a source with `subscribePattern` or `assign`. {request.scenario} "
            "needs sources with `subscribe`: change the source in the code and capture the query "
            "again, or use from-point"
        ]
    if not all(s.topics for s in version.sources):
        return [
            f"the stored version of {pipeline.name} doesn't show the topics of a source. Run "
            f"`headgate capture {function} --pipeline {pipeline.name}`"
        ]
    return []


def _is_assigned(source: Source) -> bool:
    return "assign" in {name.lower() for name in source.options}


def unknown_state(request: PlanRequest, version: Version) -> list[str]:
    """Return why it isn't known what the query keeps."""
    if version.stateful is not None:
        return []
    return [
        f"the stored version of {request.pipeline.name} doesn't show whether the query keeps "
        f"state. Run `headgate capture {request.pipeline.entry_point} --pipeline "
        f"{request.pipeline.name}`"
    ]


def other_in_batches(version: Version) -> list[str]:
    """Return the names of operators whose results in a batch would differ."""
    others = sorted({o.kind for o in version.stateful or ()} - _SAME_IN_BATCHES)
    return [_OPERATIONS.get(kind, "an unknown operator") for kind in others]


def operators_as_batch(request: PlanRequest, version: Version) -> list[str]:
    """Return why the query's results can't be computed as a batch."""
    if blockers := unknown_state(request, version):
        return blockers
    others = other_in_batches(version)
    if not others:
        return []
    return [
        f"the query uses {name_list(others)}: in a batch, its results would differ from those of "
        "the stream. Use from-point or rewind"
    ]


def target_blockers(request: PlanRequest, folder: str) -> list[str]:
    """Return why results can't be written to a folder."""
    path = PurePosixPath(folder)
    if not path.is_absolute():
        return [f"--to: expected an absolute path of a folder, found {folder!r}"]
    if not request.inspector.sinks.can_write(str(path.parent)):
        return [
            (
                f"--to: Headgate can't write to {path.parent}. Create the folder, or check its "
                "permissions"
            )
        ]
    if found := request.inspector.sinks.system_folder(folder, _known_folders(request)):
        return [f"--to: {folder} is, contains or is inside {found}. Choose another folder"]
    is_there = request.inspector.sinks.exists(folder)
    replaces = request.options.get("replace", False)
    if is_there and not replaces:
        more = ", or pass --replace" if request.scenario == "historical-range" else ""
        return [f"--to: {folder} already exists. Choose another folder{more}"]
    if replaces and not is_there:
        return [f"--replace: {folder} doesn't exist. Omit the option"]
    return []


def replaced_blockers(request: PlanRequest, folder: str) -> list[str]:
    """Return why the results in a folder can't be replaced."""
    path = PurePosixPath(folder)
    sinks = request.inspector.sinks
    if not path.is_absolute():
        return [f"--to: expected an absolute path of a folder, found {folder!r}"]
    if not sinks.exists(folder):
        return [f"--to: folder {folder} not found. Check the path"]
    if found := sinks.system_folder(folder, _known_folders(request)):
        return [
            f"--to: {folder} is, contains or is inside {found}. The run would break {found}. "
            "Write results with historical-range to another folder, then pass that folder"
        ]
    for needed in (str(path.parent), folder):
        if not sinks.can_write(needed):
            return [f"--to: Headgate can't write to {needed}. Check its permissions"]
    return []


def newer_records(topics: Mapping[str, Topic], ranges: Ranges) -> int:
    """Return how many records the topics hold after the ranges."""
    return sum(
        max((p.end or 0) - ranges.get(n, {}).get(str(p.number), (0, 0))[1], 0)
        for n, t in topics.items()
        for p in t.partitions
    )


def retention_risks(
    inspector: Inspector, topics: Mapping[str, Topic], ranges: Ranges, rate: int | None = None
) -> list[str]:
    """Name the topics of which the first records of the ranges expire soon; see `expiry_risks`."""
    total = sum(end - begin for parts in ranges.values() for begin, end in parts.values())
    found = []
    for name, topic in sorted(topics.items()):
        parts = ranges.get(name, {}).items()
        first = {(name, int(p)): begin for p, (begin, end) in parts if begin < end}
        if first and (keep := _keep_ms(topic)) is not None:
            since = int(time.time() * 1000) - keep
            oldest = _oldest(inspector, first, since, since + _soon_ms(total, rate))
            found += expiry_risks(topic, oldest, total, rate)
    return found


FIRST_RECORD_EXPIRES = Risk(
    "{topic} keeps records for {time}. {when}, Kafka may delete the first record that the run "
    "needs. Raise retention.ms of {topic}, or start the run soon",
    when="After TIME",
)


def expiry_risks(
    topic: Topic, oldest: int | None, records: int, rate: int | None = None
) -> list[str]:
    """Say when Kafka may delete the oldest record that a run needs, if that is soon.

    `oldest` is its time in Unix milliseconds, None if it is unknown or recent. The run reads
    `records` at `rate` records/s.
    """
    keep, now = _keep_ms(topic), int(time.time() * 1000)
    if oldest is None or keep is None or oldest + keep > now + _soon_ms(records, rate):
        return []
    when = "At any time"
    if oldest + keep > now:
        when = f"After {from_milliseconds(oldest + keep):%Y-%m-%d %H:%M} UTC"
    return [FIRST_RECORD_EXPIRES(topic=topic.name, time=numbers.duration(keep), when=when)]


def _keep_ms(topic: Topic) -> int | None:
    """Return how long Kafka keeps a record of the topic, None if it deletes none by time."""
    keep, deletes = topic.retention_ms, "delete" in (topic.cleanup_policy or "delete")
    return keep if keep is not None and keep >= 0 and deletes else None


def _soon_ms(records: int, rate: int | None) -> int:
    """Return ten times what a run takes, and at least the time until it starts."""
    return max(_SOON_MS, records * 10_000 // (rate or _SLOW))


def _oldest(
    inspector: Inspector, first: Mapping[tuple[str, int], int], since: int, until: int
) -> int | None:
    """Return the time, in `[since, until]`, of the partition whose record expires first, or None.

    Kafka deletes a record only after all records before it, so the newest time up to it counts.
    """

    def is_old(at: int) -> bool:
        found = inspector.kafka.first_at(first, at)
        return any((f := found.get(part)) is None or offset < f for part, offset in first.items())

    # Kafka's times before 1970 aren't times.
    low, high = max(since, 0), until
    if high <= low or not is_old(high):
        return None
    return _turn(is_old, low, high, max(_MINUTE_MS, (high - low) // 1000))[0]


def _turn(is_past: Callable[[int], bool], low: int, high: int, enough: int) -> tuple[int, int]:
    """Return two times, at most `enough` apart, between which the answer becomes True."""
    while high - low > enough:
        middle = (low + high) // 2
        low, high = (low, middle) if is_past(middle) else (middle, high)
    return low, high


def cut_since(
    inspector: Inspector, topics: Mapping[str, Topic], at: int
) -> frozenset[tuple[str, int]]:
    """Return the partitions of which Kafka may have deleted records of this time or later.

    The first record that is left is as new. `at` is in Unix milliseconds.
    """
    cut = [(n, p.number) for n, t in topics.items() for p in t.partitions if p.begin]
    if not cut:
        return frozenset()
    # After compaction, the first record isn't at the earliest offset.
    first_at = inspector.kafka.first_at
    first, found = first_at(cut, 0), first_at(cut, max(at, 0))
    return frozenset(part for part in cut if first.get(part) == found.get(part))


def left_since(inspector: Inspector, topics: Mapping[str, Topic], at: int) -> datetime | None:
    """Return the first minute after `at` that `cut_since` has nothing of; None if there is none."""

    def is_left(minute: int) -> bool:
        return not cut_since(inspector, topics, minute * _MINUTE_MS)

    low, high = max(at, 0) // _MINUTE_MS, int(time.time() * 1000) // _MINUTE_MS
    if low >= high or not is_left(high):
        return None
    return from_milliseconds(_turn(is_left, low, high, 1)[1] * _MINUTE_MS)


def deleted_words(topic: Topic) -> str:
    """Say how many of the first offsets of a topic Kafka has deleted."""
    gone = plural(sum(p.begin or 0 for p in topic.partitions), "offset")
    return f"Kafka has deleted the first records of {topic.name} ({gone})"


FUNCTION_NOT_CALLED = Risk(
    "the run doesn't call the query's {format} function. The run writes the rows that this "
    "function would get",
    format="foreachBatch or foreach",
)


def function_risks(request: PlanRequest) -> list[str]:
    """Return what comes of a batch for functions of the user."""
    version = request.version
    risks = []
    if version is not None and version.sink is not None and version.sink.traits.calls_function:
        risks.append(FUNCTION_NOT_CALLED(format=version.sink.format))
    return [*risks, *common.effect_risks(request.pipeline, version, times="a second time")]


def _known_folders(request: PlanRequest) -> dict[str, str]:
    """Return local folders that no result may be put into, each with what it is."""
    found = {
        p.checkpoint: f"the checkpoint of {p.name}"
        for p in request.inspector.processes.pipelines()
        if p.checkpoint
    }
    sink = request.version.sink if request.version else None
    if sink is not None and sink.is_files and sink.target:
        found[sink.target] = f"the output of {request.pipeline.name}"
    return found


def range_blockers(
    ranges: Ranges, topics: Mapping[str, Topic], *, option: str, again: bool = False
) -> list[str]:
    """Return what of the given ranges is outside of the topics, or left out of them.

    `again`: Kafka may have deleted their first records since the plan was made. A step refuses if
    the run needs them.
    """
    found = [f"--{option}: {name} isn't an input of the query" for name in ranges.keys() - topics]
    found += [f"--{option}: also pass the offsets of {name}" for name in topics.keys() - ranges]
    for name, topic in topics.items():
        logs = {str(p.number): (p.begin or 0, p.end or 0) for p in topic.partitions}
        for part, (first, after) in ranges.get(name, {}).items():
            if part not in logs:
                found.append(
                    f"--{option}: {name} has no partition {part}. Pass a partition from 0 to "
                    f"{len(logs) - 1}"
                )
                continue
            begin, end = logs[part]
            if first < after and not ((again or begin <= first) and after <= end):
                found.append(
                    f"--{option}: {name}[{part}] doesn't have all offsets from {first} to "
                    f"{after}. Pass a range within {begin}-{end} (the end isn't included)"
                )
    return found


def whole_topics(topics: Mapping[str, Topic]) -> Ranges:
    """Return all offsets that the topics have now."""
    return {
        name: {str(p.number): (p.begin or 0, p.end or 0) for p in topic.partitions}
        for name, topic in topics.items()
    }


def arrival(start: datetime, until: datetime, lateness: str) -> tuple[datetime, datetime]:
    """Return between which times records of `[start, until)` arrived that are at most so late.

    ScenarioError for a --lateness that isn't a duration.
    """
    late = duration(lateness, option="lateness")
    return earlier(start, late), later(until, late)


def range_rows(ranges: Ranges) -> list[str]:
    """Return the ranges as an option takes them."""
    return [
        f"{topic}:{part}:{begin}-{end}"
        for topic, parts in sorted(ranges.items())
        for part, (begin, end) in sorted(parts.items(), key=lambda p: int(p[0]))
    ]


def read_ranges(rows: Iterable[str], *, option: str) -> Ranges:
    """Return the ranges of an option's values; ScenarioError if one has another form."""
    found: Ranges = {}
    for row in rows:
        topic, _, rest = row.partition(":")
        part, _, span = rest.partition(":")
        begin, _, end = span.partition("-")
        if not topic or not all(n.isascii() and n.isdecimal() for n in (part, begin, end)):
            raise ScenarioError(f"--{option}: expected TOPIC:PARTITION:FROM-TO, found {row!r}")
        if int(begin) > int(end):
            raise ScenarioError(f"--{option}: FROM is greater than TO in {row!r}")
        found.setdefault(topic, {})[part] = (int(begin), int(end))
    return found


FUNCTION_RISKS = (
    FUNCTION_NOT_CALLED,
    common.EFFECTS_UNKNOWN,
)
