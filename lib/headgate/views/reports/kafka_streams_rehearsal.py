"""What happened in a rehearsal of Kafka Streams, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from headgate.model.kafka_streams_rehearsal import (
    ClusterComparison,
    CopiedTopic,
    StoreFate,
    StoreRows,
    StreamsStage,
    StreamsVerdict,
)
from headgate.model.rehearsal import EngineOutcome, Untouched
from headgate.rules.compare.engine_agreement import Judged
from headgate.rules.core.report import Report
from headgate.text.numbers import size
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.rehearsal import (
    changed_names,
    checkpoint_json,
    many,
    output_json,
    output_words,
    unchanged_words,
)

HEADLINES = {
    EngineOutcome.REFUSES: "Kafka Streams fails to start",
    EngineOutcome.RESUMES: "Kafka Streams starts and resumes",
    EngineOutcome.UNKNOWN: "The rehearsal has no result",
}
STAGES = {
    StreamsStage.BUILD: "before the KafkaStreams client was created",
    StreamsStage.START: "at the start, before the application processed a record",
    StreamsStage.BATCH: "after the application had started",
}
_FATES = {
    StoreFate.KEPT: "read by the new version",
    StoreFate.LOST: "the new version doesn't read this store",
    StoreFate.EMPTY: "starts empty: the old version has no store with this name",
}
_COPIED = {
    "changelog": "all copied",
    "input": "only unread records copied",
    "repartition": "only in-flight records copied",
    "output": "not copied: the rehearsal starts with an empty topic",
    "not read": "not copied: the rehearsal starts with an empty topic",
}


def headline(engine: StreamsVerdict) -> str:
    """Return the verdict in one line."""
    said = HEADLINES[engine.outcome]
    return f"{said}: {engine.error_class}" if engine.error_class else said


def facts(engine: StreamsVerdict) -> Iterator[tuple[str, str]]:
    """Yield what happened as names and sentences, without the rows themselves."""
    if engine.stage is not None:
        yield "Stage", STAGES[engine.stage]
    if engine.message:
        yield "Message", engine.message
    for cause in engine.causes[1:]:
        yield "Caused by", cause
    if engine.question:
        yield "Open question", engine.question
    if engine.rows_in is not None:
        yield "Records", f"{many(engine.rows_in, 'record')} in, {engine.rows_out or 0:,} out"
    for store in engine.stores:
        yield "Store", store_words(store)
    if engine.output is not None:
        yield "Old version", output_words(engine.output)
    yield from _side_effects(engine)


def _side_effects(engine: StreamsVerdict) -> Iterator[tuple[str, str]]:
    """Yield what it left in topics, folders and the cluster, and what it can't show."""
    for topic in engine.copied:
        yield "Topic", topic_words(topic)
    for item in engine.not_exercised:
        yield "Not tested", item
    for item in engine.not_ensured:
        yield "Not guaranteed", item
    if engine.directory is not None:
        yield "Directory", directory_words(engine.directory)
    if engine.cluster is not None:
        yield "Your cluster", cluster_words(engine.cluster)


def store_words(store: StoreRows) -> str:
    """Return what became of a store and its keys."""
    was, now = ("?" if n is None else f"{n:,}" for n in (store.before, store.after))
    if store.fate is StoreFate.LOST:
        keys = f"{many(store.before, 'key')} " if store.before is not None else ""
        return f"{store.store}: {keys}lost: {_FATES[store.fate]}"
    if store.fate is StoreFate.EMPTY:
        was = "0"
    return f"{store.store}: {was} → {now} keys, {_FATES[store.fate]}"


def topic_words(topic: CopiedTopic) -> str:
    """Return what was copied of a topic."""
    copied = f"{many(topic.records, 'record')}, {_COPIED[topic.role]}"
    how = copied if topic.records else "no records copied"
    return f"{topic.topic} ({topic.role}, {many(topic.partitions, 'partition')}): {how}"


def directory_words(found: Untouched) -> str:
    """Return what the hashes of the directory show."""
    told = f"{many(found.files, 'file')}, {size(found.bytes)}"
    if found.is_unchanged:
        return unchanged_words(told, found)
    return (
        f"the running application changed {changed_names(found)} during the rehearsal. The "
        "rehearsal itself changes only its copy"
    )


def cluster_words(found: ClusterComparison) -> str:
    """Return what the hashes of offsets, topics and groups show."""
    told = (
        f"{many(found.topics, 'topic')}, {many(found.partitions, 'partition')}, "
        f"{many(found.offsets, 'committed offset')}"
    )
    if found.is_unchanged:
        return unchanged_words(told, found)
    names = changed_names(found)
    return f"other clients changed {names}. The rehearsal itself only read your cluster ({told})"


def streams_rehearsal_json(
    report: Report, engine: StreamsVerdict, judged: Judged
) -> dict[str, Any]:
    """Return the object that `rehearse --format json` prints; every value is plain."""
    agreement = {"agreement": judged.agreement.value, "why": judged.why}
    return report_json(report) | {"engine": engine_json(engine), **agreement}


def engine_json(engine: StreamsVerdict) -> dict[str, Any]:
    """Return the engine's verdict, the contract's fields first."""
    return {
        "outcome": engine.outcome.value,
        "error_class": engine.error_class,
        "message": engine.message,
        "rows_in": engine.rows_in,
        "rows_out": engine.rows_out,
        "causes": list(engine.causes),
        "stage": engine.stage.value if engine.stage else None,
        "question": engine.question,
        "streams_version": engine.streams_version,
        "application_id": engine.application_id,
        "form": engine.form,
        "not_exercised": list(engine.not_exercised),
        "not_ensured": list(engine.not_ensured),
        "state": [
            asdict(s)
            | {"fate": s.fate.value}
            | {"sample": [{"key": key, "value": value} for key, value in s.sample]}
            for s in engine.stores
        ],
        "topics": [asdict(t) for t in engine.copied],
        "rows": [json.loads(row) for row in engine.rows],
        "output": output_json(engine.output),
        "directory": checkpoint_json(engine.directory),
        "cluster": _cluster(engine.cluster),
    }


def _cluster(found: ClusterComparison | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return asdict(found) | {"unchanged": found.is_unchanged, "changed": list(found.changed)}
