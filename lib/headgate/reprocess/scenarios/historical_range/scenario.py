"""Historical range: the results of a range of event time, in an output of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.version import Engine
from headgate.reprocess.conditions import ENTRY_POINT
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.spark_jobs import EventTimes, SparkJob
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.historical_range import failing_records, stream_range
from headgate.reprocess.scenarios.historical_range import target as range_target
from headgate.reprocess.scenarios.historical_range.failing_records import (
    FAILING_TO,
    MAX_FAILING_OPTION,
    FailingTo,
    read_failing_to,
)
from headgate.reprocess.scenarios.historical_range.risks import (
    RISKS,
    WINDOWS_MAY_STAY_OPEN,
    exactness,
    input_risks,
    other_time,
)
from headgate.reprocess.scenarios.historical_range.stream_range import (
    closing_ranges,
    limit_blockers,
    open_risk,
)
from headgate.reprocess.scenarios.historical_range.target import (
    FORMATS,
    blockers_of_target,
    target_of,
)
from headgate.reprocess.scenarios.historical_range.time_range import (
    INPUT_EXPIRED,
    TimeRange,
    expired_input,
    measured_range,
    operator_blockers,
    ranges_of,
    read_range,
    result_filter,
    within_lateness,
)
from headgate.reprocess.scenarios.shared import common, processing_mode
from headgate.reprocess.scenarios.shared.processed_records import (
    ACCEPT_EXPIRED,
    FIRST_RECORD_EXPIRES,
    FUNCTION_RISKS,
    Ranges,
    range_blockers,
    range_rows,
    read_ranges,
    retention_risks,
    source_blockers,
)
from headgate.reprocess.scenarios.shared.processing_mode import (
    AS,
    MAX_RECORDS,
    RATE,
    ProcessingMode,
    choose,
    least_seconds,
    load_risks,
)
from headgate.reprocess.steps.base.step import topic_facts
from headgate.text.numbers import name_list
from headgate.text.times import from_milliseconds, iso


def build(request: PlanRequest) -> Plan:
    """Return the plan: process the records of the range, put the results in place."""
    if blockers := source_blockers(request):
        return request.block(*blockers)
    version = request.version
    assert version is not None
    names = {t for s in version.sources or () for t in s.topics}
    topics = request.inspector.kafka.topics(names)
    mode = choose(request, version, request.options.get("keys", ()))
    failing = read_failing_to(request, version, topics, is_stream=mode.is_stream)
    blockers = [
        *common.topic_blockers(names, topics),
        *mode.blockers,
        *limit_blockers(version),
        *operator_blockers(request, version),
        *blockers_of_target(request, is_stream=mode.is_stream),
        *failing.blockers,
    ]
    wanted = read_range(request, version.stateful or ())
    if blockers:
        return request.block(*blockers)
    scanned = _scanned(request, topics, wanted)
    if blockers := range_blockers(scanned, topics, option="scan", again=request.again):
        return request.block(*blockers)
    return _plan(request, topics, wanted, scanned, mode, failing)


def _plan(
    request: PlanRequest,
    topics: Mapping[str, Topic],
    wanted: TimeRange,
    scanned: Ranges,
    mode: ProcessingMode,
    failing: FailingTo,
) -> Plan:
    pipeline, inspector, version = request.pipeline, request.inspector, request.version
    assert version is not None
    ids = {name: topic.id for name, topic in topics.items()}
    found = inspector.spark_jobs.event_times(_measuring(request, scanned), ids)
    column, blockers = result_filter(found, version, wanted)
    # A source without a watermark has no times: all of its records are read.
    is_limited = found.is_event_time or "warm-up" in request.options
    offsets = {**scanned, **(ranges_of(found.slices, wanted) if is_limited else {})}
    measured = measured_range(found.slices, offsets)
    has_any = any(begin < end for parts in offsets.values() for begin, end in parts.values())
    said = mode.risks(version)
    if not found.is_event_time:
        told = other_time(request, found, column)
        (said if is_limited or "lateness" not in request.options else blockers).append(told)
    if mode.is_stream and has_any:
        blockers = blockers or _column_blockers(found, column)
        if version.stateful and is_limited:
            offsets, is_closed = closing_ranges(found, offsets, wanted)
            said += [] if is_closed else [open_risk(found, wanted, mode.output_mode)]
        elif version.stateful:
            said.append(WINDOWS_MAY_STAY_OPEN())
    records = {t: sum(end - begin for begin, end in parts.values()) for t, parts in offsets.items()}
    if not has_any:
        blockers.append(
            f"no record has an event time from {iso(wanted.input_start)} to "
            f"{iso(wanted.input_until)}. {_measured(request, found)}"
        )
    needed, late = within_lateness(request, topics, wanted), request.options.get("lateness")
    limits = wanted if is_limited else None
    expired = list(expired_input(request, topics, scanned, needed, limits))
    if not request.options.get("accept-expired"):
        blockers += [one.blocker for one in expired]
    what: dict[str, Any] = {
        "pipeline": pipeline.name,
        "entry_point": str(pipeline.entry_point),
        "query": pipeline.query,
        "topics": topic_facts(topics),
        "offsets": offsets,
        "result_time": column,
        "start": iso(wanted.start) if column else None,
        "until": iso(wanted.until) if column else None,
        "stream": mode.stream,
        "max_failing": failing.most,
    }
    if not mode.is_stream and is_limited:
        what["input_start"] = iso(wanted.start if column is None else wanted.input_start)
        what["input_until"] = iso(wanted.until if column is None else wanted.input_until)
    target = target_of(request, topics, what, found)
    blockers += target.blockers
    process, *others = target.steps
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(process, *failing.steps(request), *others) if not blockers else (),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "topics": topic_facts(topics),
            "entry_point": pipeline.entry_point,
        },
        impact={"records": records, "total": sum(records.values()), **measured},
        risks=(
            *([one.said for one in expired] or [exactness(late, scanned, needed, found, mode)]),
            *input_risks(request, topics, scanned, found),
            *load_risks(request, topics, offsets, limit=mode.limit),
            *retention_risks(inspector, topics, offsets, request.options.get("rate")),
            *said,
            *least_seconds(request, sum(records.values())),
            *target.risks,
            *failing.risks(request, version),
        ),
        blockers=tuple(blockers),
        options={**request.options, "scan": range_rows(scanned)},
        resources=target.resources,
        outputs=failing.outputs(target.outputs),
    )


def _column_blockers(found: EventTimes, column: str | None) -> list[str]:
    """Return why a stream can't choose results: its input has more than the range."""
    if column is not None:
        return []
    return [
        "processed as a stream, the query also reads records outside the range, so Headgate must "
        "select the results by time. Pass --time-column with the result column that has the event "
        f"time or window (for JSON: value.FIELD). Columns: {name_list(found.columns)}"
    ]


def _measuring(request: PlanRequest, scanned: Ranges) -> SparkJob:
    options, pipeline = request.options, request.pipeline
    given = {
        "--entry-point": pipeline.entry_point,
        "--query": pipeline.query,
        "--offsets": json.dumps(scanned, sort_keys=True),
        "--time-column": options.get("time-column"),
    }
    return SparkJob(
        program="measure_times",
        arguments=tuple(w for name, value in given.items() if value for w in (name, str(value))),
        what=f"the measurement of event times of {pipeline.name}",
    )


def _scanned(request: PlanRequest, topics: Mapping[str, Topic], wanted: TimeRange) -> Ranges:
    """Return the offsets to measure: the given ones, those of a lateness, or all there are now."""
    if rows := request.options.get("scan"):
        return read_ranges(rows, option="scan")
    return within_lateness(request, topics, wanted)


def _measured(request: PlanRequest, found: EventTimes) -> str:
    times = [t for s in found.slices for t in (s.first, s.last) if t is not None]
    if not any(s.begin < s.end for s in found.slices):
        limits = [f"--{name}" for name in ("scan", "lateness") if name in request.options]
        if not limits:
            return "The inputs have no records"
        return f"The offsets of {limits[0]} have no records. Omit the option, or change its value"
    if not times:
        return (
            f"No measured record has a value in {found.column}. Check withWatermark in the "
            "query, or --time-column"
        )
    first, last = (iso(from_milliseconds(t)) for t in (min(times), max(times)))
    return (
        f"The event times of the measured records are from {first} to {last}. Pass a range "
        "with --from and --until that has records"
    )


SCENARIO = Scenario(
    name="historical-range",
    title="Historical range",
    short="Recompute the results of an event-time range.",
    what="Recompute the results of an event-time range, and write them to a folder, a topic or a "
    "table.",
    build=build,
    steps=(
        "write_dead_letters",
        "process_records",
        "process_into_topic",
        "install_results",
        "stage_rows",
        "upsert_rows",
        "stage_records",
        "append_records",
        "delete_staged_records",
    ),
    risks=lambda: (
        INPUT_EXPIRED,
        *RISKS,
        *common.LOST_RISKS,
        *processing_mode.LOAD_RISKS,
        FIRST_RECORD_EXPIRES,
        *processing_mode.RISKS,
        *stream_range.RISKS,
        processing_mode.LEAST_SECONDS,
        *FUNCTION_RISKS,
        *range_target.RISKS,
        *failing_records.RISKS,
    ),
    options=(
        Option(
            name="from",
            ask="Start of the range (event time)",
            help="Start of the range (included). A result is in the range if its window starts "
            "in the range, or, without a window, if its event time is in the range.",
            metavar="TIME",
            required=True,
        ),
        Option(
            name="until",
            ask="End of the range (event time)",
            help="End of the range (not included).",
            metavar="TIME",
            required=True,
        ),
        Option(
            name="to",
            ask="Folder, topic or table for the results",
            help="Absolute path of the folder for the results, kafka:TOPIC for a topic, or "
            "jdbc:NAME.TABLE for a table of the database under [jdbc.NAME] in headgate.toml.",
            metavar="FOLDER|kafka:TOPIC|jdbc:NAME.TABLE",
            required=True,
        ),
        Option(
            name="keys",
            ask="Key columns",
            help="Key column of a result. If --to is a table, results replace the rows with the "
            "same keys. For a stream in update mode, the run keeps only the last row of each key. "
            "In this case, value.FIELD is also possible (a field of the JSON in the column value). "
            "Can be repeated.",
            kind=Kind.MANY,
            metavar="COLUMN",
        ),
        Option(
            name="append",
            ask="Append the results to an existing topic",
            help="Append the results to the existing topic in --to. An undo can't remove "
            "appended results.",
            kind=Kind.FLAG,
        ),
        Option(
            name="file-format",
            ask="File format",
            help="Format of the files (default parquet).",
            kind=Kind.CHOICE,
            choices=FORMATS,
        ),
        Option(
            name="replace",
            ask="Replace the contents of the folder",
            help="Replace the contents of an existing folder. An undo restores them.",
            kind=Kind.FLAG,
        ),
        Option(
            name="time-column",
            ask="Event time or window column",
            help="Column with the event time or window of a result, or value.FIELD for a field of "
            "the JSON in the column value (default: the window column, else the column of the "
            "watermark).",
            metavar="COLUMN",
        ),
        ACCEPT_EXPIRED,
        AS,
        MAX_RECORDS,
        RATE,
        FAILING_TO,
        MAX_FAILING_OPTION,
        Option(
            name="warm-up",
            ask="Extra time before and after the range",
            help="Time before and after the range, such as 2h. The run also processes the "
            "records of this time. Needed for joins, session windows, deduplication and "
            "functions with state.",
            metavar="DURATION",
        ),
        Option(
            name="lateness",
            ask="Maximum lateness of records",
            help="Largest difference, in either direction, between a record's event time and the "
            "newest Kafka timestamp so far in its partition, such as 3d (default: unlimited). "
            "Headgate then reads only records whose Kafka timestamps are at most this long before "
            "or after the range.",
            metavar="DURATION",
        ),
        Option(
            name="scan",
            ask="Offset ranges to search",
            help="Offset ranges in which Headgate looks for records of the time range. TO is "
            "not included. Records at other offsets are missing from the results (default: "
            "the offsets of --lateness, else all offsets when the plan is made).",
            kind=Kind.MANY,
            metavar="TOPIC:PARTITION:FROM-TO",
        ),
    ),
    support={
        Engine.SPARK: needs(ENTRY_POINT),
        Engine.KAFKA_STREAMS: refused(
            "Kafka Streams can't process only a range of records: use from-point with --to-datetime"
        ),
        Engine.CONSUMER_GROUP: refused(
            "Headgate doesn't know how a consumer reads event times: use from-point with "
            "--to-datetime"
        ),
    },
)
