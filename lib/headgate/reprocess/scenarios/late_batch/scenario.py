"""Late batch: the results of the keys that late records touch are computed again and replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.model.cluster import Topic
from headgate.model.version import Engine, Version
from headgate.reprocess.conditions import ENTRY_POINT
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.spark_jobs import LateTouch, SparkJob
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.late_batch import plan_words
from headgate.reprocess.scenarios.late_batch import target as late_target
from headgate.reprocess.scenarios.late_batch.late_input import (
    LateInput,
    names_of,
    read_duplicates,
    read_late,
)
from headgate.reprocess.scenarios.late_batch.needed_input import (
    expired_blockers,
    needed_input,
)
from headgate.reprocess.scenarios.late_batch.plan_words import impact_of, risks_of
from headgate.reprocess.scenarios.late_batch.target import (
    OLDEST,
    OldResults,
    blockers_of_target,
    old_results,
    oldest_transaction,
    target_of,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.processed_records import (
    ACCEPT_EXPIRED,
    Ranges,
    operators_as_batch,
    range_blockers,
    range_rows,
    read_ranges,
    source_blockers,
    whole_topics,
)
from headgate.reprocess.steps.base.step import topic_facts
from headgate.reprocess.steps.outputs.late_batch import LateBatch
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What was requested: the late records, the inputs with their offsets, the old results."""

    late: LateInput
    duplicates: str
    topics: Mapping[str, Topic]
    known: Ranges
    old: OldResults


def build(request: PlanRequest) -> Plan:
    """Return the plan: process the touched keys, put their results in place."""
    if blockers := source_blockers(request):
        return request.block(*blockers)
    version = request.version
    assert version is not None
    names = {t for s in version.sources or () for t in s.topics}
    # Before the offsets: what was written from later ones is then newer than the plan.
    oldest = oldest_transaction(request)
    topics = request.inspector.kafka.topics(names)
    blockers = [
        *common.topic_blockers(names, topics),
        *operators_as_batch(request, version),
        *blockers_of_target(request),
    ]
    if blockers:
        return request.block(*blockers)
    late, wrong = read_late(request, topics)
    duplicates, more = read_duplicates(request)
    rows = request.options.get("scan")
    known = read_ranges(rows, option="scan") if rows else whole_topics(topics)
    if blockers := [
        *wrong,
        *more,
        *range_blockers(known, topics, option="scan", again=request.again),
    ]:
        return request.block(*blockers)
    batch = Batch(
        late=late,
        duplicates=duplicates,
        topics=topics,
        known=known,
        old=old_results(request, oldest),
    )
    return _plan(request, version, batch)


def _plan(request: PlanRequest, version: Version, batch: Batch) -> Plan:
    pipeline, late = request.pipeline, batch.late
    topics = {**batch.topics, **late.topics}
    ids = {name: topic.id for name, topic in topics.items()}
    # Names of topics have no slashes and colons, so that these are others.
    contents = dict(batch.old.contents)
    if late.files is not None:
        contents[late.files.partition(":")[2]] = str(late.content)
    touch = request.inspector.spark_jobs.late_touch(
        _measuring(request, batch), {**ids, **contents, **batch.old.known}
    )
    needed = needed_input(request, version, batch.topics, batch.known, touch)
    lacking = expired_blockers(request, batch.topics, batch.known, needed)
    what = {
        "pipeline": pipeline.name,
        "entry_point": str(pipeline.entry_point),
        "query": pipeline.query,
        "topics": topic_facts(batch.topics),
        "offsets": needed.offsets,
        "input_start": needed.start,
        "input_until": needed.until,
        "late": LateBatch(
            input=late.input,
            offsets=late.offsets,
            topics=topic_facts(late.topics),
            files=late.files,
            content=late.content,
            known_offsets=batch.known,
            duplicates=batch.duplicates,
            keys=names_of(request, "keys"),
            time_column=request.options.get("time-column"),
            records=touch.late,
            pairs=touch.pairs,
        ),
    }
    target = target_of(request, what, batch.old, touch)
    blockers = [*_empty(touch), *lacking, *target.blockers]
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=target.steps if not blockers else (),
        preconditions={
            "cluster_id": request.inspector.kafka.cluster_id(),
            "topics": topic_facts(topics),
            "entry_point": pipeline.entry_point,
            "contents": contents,
        },
        impact=impact_of(needed, touch),
        risks=(
            *risks_of(request, version, batch.topics, batch.known, needed, touch),
            *target.risks,
        ),
        blockers=tuple(blockers),
        options={
            **request.options,
            "late": list(late.rows),
            "scan": range_rows(batch.known),
            **({OLDEST: batch.old.oldest_transaction} if batch.old.database else {}),
        },
        resources=target.resources,
        outputs=target.outputs,
    )


def _measuring(request: PlanRequest, batch: Batch) -> SparkJob:
    pipeline, late = request.pipeline, batch.late
    given = {
        "--entry-point": pipeline.entry_point,
        "--query": pipeline.query,
        "--offsets": json.dumps(batch.known, sort_keys=True),
        "--input": late.input,
        "--late-offsets": json.dumps(late.offsets, sort_keys=True) if late.offsets else None,
        "--late-files": late.files,
        "--duplicates": batch.duplicates,
        "--keys": ",".join(names_of(request, "keys")),
        "--time-column": request.options.get("time-column"),
        "--target": batch.old.address,
    }
    return SparkJob(
        program="late.measure_late",
        arguments=tuple(w for name, value in given.items() if value for w in (name, str(value))),
        what=f"the measurement of late records of {pipeline.name}",
        database=batch.old.database,
    )


def _empty(touch: LateTouch) -> list[str]:
    """Return why there is nothing to do."""
    if not touch.late:
        return ["--late: no records found. Check the topic, the offsets or the folder"]
    if not touch.new:
        return [
            f"--late: only duplicates found ({plural(touch.late, 'record')}), so no result "
            "changes. Check --duplicates"
        ]
    if not touch.pairs:
        return [
            "--late: the query produces no result from the late records, so nothing changes. "
            "Check the records"
        ]
    return []


SCENARIO = Scenario(
    name="late-batch",
    title="Late batch",
    short="Recompute the results that late records change.",
    what="Recompute only the results that late records change, and replace them in a folder or a "
    "table.",
    build=build,
    steps=(
        "replace_results",
        "install_results",
        "stage_late_rows",
        "upsert_rows",
    ),
    risks=lambda: (*plan_words.RISKS, *late_target.RISKS),
    options=(
        Option(
            name="late",
            ask="Late records",
            help="Source of the late records: offsets of the input, another topic (whole or by "
            "offsets), or a folder of files. TO is not included.",
            kind=Kind.MANY,
            metavar="TOPIC[:PARTITION:FROM-TO]|FOLDER",
            required=True,
        ),
        Option(
            name="keys",
            ask="Key columns",
            help="Key columns of a result. Every aggregation must group by these columns. "
            "Headgate finds the window column itself.",
            kind=Kind.MANY,
            metavar="COLUMN",
            required=True,
        ),
        Option(
            name="to",
            ask="Folder or table with the results",
            help="Absolute path of the folder with the results, or jdbc:NAME.TABLE for a table of "
            "the database under [jdbc.NAME] in headgate.toml.",
            metavar="FOLDER|jdbc:NAME.TABLE",
            required=True,
        ),
        Option(
            name="file-format",
            ask="Format of the results",
            help="Format of the results in a folder (default parquet).",
            kind=Kind.CHOICE,
            choices=("parquet", "json", "orc"),
        ),
        Option(
            name="late-format",
            ask="Format of the files of late records",
            help="Format of the files of late records (default parquet).",
            kind=Kind.CHOICE,
            choices=("parquet", "json", "orc"),
        ),
        Option(
            name="input",
            ask="Input topic of the late records",
            help="Input topic of the late records (default: the input in --late, or the only "
            "input).",
            metavar="TOPIC",
        ),
        Option(
            name="duplicates",
            ask="Duplicate detection",
            help="How duplicates are detected: by offsets (default), by key, by JSON fields of the "
            "value (value.FIELD), or not at all (none).",
            kind=Kind.MANY,
            metavar="none|offsets|key|value.FIELD",
        ),
        Option(
            name="time-column",
            ask="Event time or window column",
            help="Column with the event time or window of a result (default: the window column).",
            metavar="COLUMN",
        ),
        Option(
            name="lateness",
            ask="Maximum lateness of other records",
            help="Longest time between event time and arrival of the records in the windows of "
            "the late records, such as 3d (default: unlimited). A record's arrival is the newest "
            "Kafka timestamp up to this record in its partition. Headgate doesn't read records "
            "that arrived more than this time before or after these windows.",
            metavar="DURATION",
        ),
        Option(
            name="scan",
            ask="Offset ranges to process",
            help="Offsets of the inputs to process; TO is not included (default: all offsets that "
            "exist when the plan is made).",
            kind=Kind.MANY,
            metavar="TOPIC:PARTITION:FROM-TO",
        ),
        Option(
            name=OLDEST,
            ask="First database transaction whose rows stay",
            help="Only for a table: number of the first database transaction whose rows the run "
            "must not replace (default: the oldest transaction that is open when the plan is "
            "made).",
            kind=Kind.NUMBER,
            metavar="NUMBER",
            after=("scan",),
        ),
        replace(
            ACCEPT_EXPIRED,
            ask="Replace results even if older records are missing",
            help="Replace results even if older input records are past retention, or --scan "
            "leaves records out. The new results lack these records. For the keys of the "
            "late records, results whose records are all gone are deleted.",
        ),
    ),
    support={
        Engine.SPARK: needs(ENTRY_POINT),
        Engine.KAFKA_STREAMS: refused(
            "Kafka Streams can't reprocess single keys. Use from-point with --to-datetime"
        ),
        Engine.CONSUMER_GROUP: refused(
            "Headgate can't read the keys of a consumer's results. Use from-point with "
            "--to-datetime"
        ),
    },
)
