"""A/B: two functions process the same records, and their results are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from headgate.errors import RefusedError, ScenarioError
from headgate.model.cluster import Topic
from headgate.model.version import Engine
from headgate.reprocess.conditions import ENTRY_POINT
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import Plan, folder_resource
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.shared import common, processing_mode
from headgate.reprocess.scenarios.shared.compared_results import (
    IGNORE,
    KEYS,
    TOLERANCE,
    column_blockers,
    comparison_of,
)
from headgate.reprocess.scenarios.shared.processed_records import (
    FIRST_RECORD_EXPIRES,
    Ranges,
    range_blockers,
    range_rows,
    read_ranges,
    retention_risks,
    source_blockers,
    target_blockers,
    whole_topics,
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
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.outputs.compare_results import CompareResults
from headgate.reprocess.steps.outputs.install_results import InstallResults
from headgate.reprocess.steps.outputs.process_records import ProcessRecords
from headgate.text.numbers import as_records
from headgate.text.risk import Risk

_FUNCTION = re.compile(r"[\w.]+:\w+")


def build(request: PlanRequest) -> Plan:
    """Return the plan: both functions process the same offsets, then their results are compared."""
    if blockers := source_blockers(request):
        return request.block(*blockers)
    assert request.version is not None
    names = {t for s in request.version.sources or () for t in s.topics}
    topics = request.inspector.kafka.topics(names)
    other = str(request.options["other"])
    if not _FUNCTION.fullmatch(other):
        raise ScenarioError(f"--other: expected MODULE:FUNCTION, found {other!r}")
    mode = choose(request, request.version, request.options["keys"])
    blockers = [
        *common.topic_blockers(names, topics),
        *mode.blockers,
        *target_blockers(request, str(request.options["to"])),
        *column_blockers(request),
    ]
    rows = request.options.get("offsets")
    ranges = read_ranges(rows, option="offsets") if rows else whole_topics(topics)
    blockers += range_blockers(ranges, topics, option="offsets", again=request.again)
    if blockers:
        return request.block(*blockers)
    try:
        request.inspector.spark_jobs.check_import(other)
    except RefusedError as error:
        return request.block(f"--other: {error}")
    return _plan(request, topics, ranges, mode)


def _plan(
    request: PlanRequest, topics: Mapping[str, Topic], ranges: Ranges, mode: ProcessingMode
) -> Plan:
    pipeline, options = request.pipeline, request.options
    folder = PurePosixPath(str(options["to"]))
    own, other = str(folder / "a"), str(folder / "b")
    compare = CompareResults(
        before=own,
        after=other,
        **comparison_of(options),
    )
    steps: list[Step] = []
    functions = ((str(pipeline.entry_point), own, True), (str(options["other"]), other, False))
    for function, to, is_own in functions:
        process = ProcessRecords(
            pipeline=pipeline.name,
            entry_point=function,
            query=pipeline.query if is_own else None,
            topics=topic_facts(topics),
            offsets=ranges,
            format="parquet",
            folder=to,
            registered=is_own,
            stream=mode.stream,
        )
        steps += [process, InstallResults(folder=to)]
    # Both versions read them.
    records = {t: 2 * sum(e - b for b, e in parts.values()) for t, parts in ranges.items()}
    total = sum(records.values())
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(*steps, compare),
        preconditions={
            "cluster_id": request.inspector.kafka.cluster_id(),
            "topics": topic_facts(topics),
            "entry_point": pipeline.entry_point,
        },
        impact={"records": records, "total": total},
        risks=(
            *_risks(request, topics, ranges, mode),
            *least_seconds(request, total),
        ),
        options={**options, "offsets": range_rows(ranges)},
        resources=(folder_resource(str(folder)),),
        outputs=OutputEffects(
            run=(f"The results of both versions are written to {folder}.",),
            undo=(f"An undo deletes {own} and {other}.",),
        ),
    )


BOTH_READ = Risk(
    "each version reads {records}. The plan counts the records of both", records="up to N records"
)


def _risks(
    request: PlanRequest, topics: Mapping[str, Topic], ranges: Ranges, mode: ProcessingMode
) -> list[str]:
    assert request.version is not None
    each = sum(end - begin for parts in ranges.values() for begin, end in parts.values())
    return [
        *mode.risks(request.version),
        BOTH_READ(records=as_records(each)),
        AS_STREAMS() if mode.is_stream else AS_BATCHES(),
        *common.lost_risks(topics),
        *load_risks(request, topics, ranges, limit=mode.limit, times=2),
        *retention_risks(request.inspector, topics, ranges, request.options.get("rate")),
        *common.effect_risks(request.pipeline, request.version, times="twice more"),
    ]


AS_BATCHES = Risk(
    "both versions process the records as a batch. In a batch no record is late, so the "
    "comparison misses differences that only late records cause. To include late records, set "
    "--as to stream"
)
AS_STREAMS = Risk(
    "both versions get the same batches. In append mode, a window that is still open at the last "
    "offset has no result in either version"
)


SCENARIO = Scenario(
    name="ab",
    title="Compare two versions (A/B)",
    short="Compare the results of two versions on equal records.",
    what="Process the same records with two versions, and compare their results row by row.",
    build=build,
    steps=(
        "process_records",
        "install_results",
        "compare_results",
    ),
    risks=lambda: (
        BOTH_READ,
        AS_BATCHES,
        AS_STREAMS,
        *processing_mode.RISKS,
        *common.LOST_RISKS,
        *processing_mode.LOAD_RISKS,
        processing_mode.LEAST_SECONDS,
        FIRST_RECORD_EXPIRES,
        common.EFFECTS_UNKNOWN,
    ),
    options=(
        Option(
            name="other",
            ask="Function of the other version",
            help="Function that builds the query of the other version, importable from the folder "
            "of headgate.toml.",
            metavar="MODULE:FUNCTION",
            required=True,
        ),
        KEYS,
        Option(
            name="to",
            ask="Folder for the results",
            help="Absolute path of a new folder for the results of both versions.",
            metavar="FOLDER",
            required=True,
        ),
        Option(
            name="offsets",
            ask="Offset ranges to process",
            help="Offsets to process; TO is not included (default: all offsets that exist when "
            "the plan is made).",
            kind=Kind.MANY,
            metavar="TOPIC:PARTITION:FROM-TO",
        ),
        AS,
        MAX_RECORDS,
        RATE,
        TOLERANCE,
        IGNORE,
        Option(
            name="allow-differences",
            ask="Succeed even if the results differ",
            help="Report differences without failing the run (default: the run fails with exit "
            "code 1).",
            kind=Kind.FLAG,
        ),
    ),
    support={
        Engine.SPARK: needs(ENTRY_POINT),
        Engine.KAFKA_STREAMS: refused(
            "Kafka Streams can't process a range of offsets as a batch. To compare both jars, use "
            "a twin run: `headgate rehearse --before-jar`"
        ),
        Engine.CONSUMER_GROUP: refused(
            "Headgate can't run the code of a consumer group: run both versions yourself with "
            "different group ids and output topics, then compare with `headgate compare-output`"
        ),
    },
)
