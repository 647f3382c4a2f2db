"""What the plan of a late batch says: what is touched, read and replaced, and the risks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.version import OperatorKind, Version
from headgate.reprocess.ports.spark_jobs import LateTouch
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.late_batch.needed_input import (
    NeededInput,
    left_out,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.processed_records import (
    FIRST_RECORD_EXPIRES,
    FUNCTION_RISKS,
    Ranges,
    deleted_words,
    function_risks,
    newer_records,
    retention_risks,
)
from headgate.reprocess.scenarios.shared.processing_mode import LOAD_RISKS, load_risks
from headgate.text.numbers import as_records, plural
from headgate.text.risk import Risk


def impact_of(needed: NeededInput, touch: LateTouch) -> dict[str, Any]:
    """Return what is read, and what was measured of the late records."""
    records = {t: sum(e - b for b, e in parts.values()) for t, parts in needed.offsets.items()}
    return {
        "records": records,
        "total": sum(records.values()),
        "late": {
            "records": touch.late,
            "duplicates": touch.repeated + touch.in_input,
            "keys": touch.keys,
            "windows": touch.pairs if touch.time else None,
            "results": touch.touched_rows,
            "of_results": touch.rows,
            "sample": [dict(row) for row in touch.sample],
        },
    }


LATE_INCLUDED = Risk(
    "Spark processes the records as a batch. In a batch no record is late, so the new results "
    "also include records that the query dropped as late"
)
DUPLICATES_LEFT_OUT = Risk(
    "duplicates are left out: {records} ({repeated} repeated, {in_input} already in the input)",
    records="N late records",
    repeated="N",
    in_input="N",
)
LATENESS_ASSUMED = Risk(
    "new results are exact only if each input record of their windows arrived within "
    "{lateness} of its event time (--lateness). A record's arrival is the newest Kafka "
    "timestamp up to this record in its partition. The new results lack records that arrived "
    "earlier or later, except the late records of this plan",
    lateness="DURATION",
)
SCAN_LEAVES_OUT = Risk(
    "--scan leaves out earlier records of {topic} ({offsets}). The new results lack these "
    "records. For the keys of the late records, results that come only from such records are "
    "deleted",
    offsets="N offsets",
)
INPUT_EXPIRED = Risk(
    "{deleted}. The new results lack these records. For the keys of the late records, results "
    "that come only from such records are deleted",
    deleted="Kafka has deleted the first records of TOPIC (N offsets)",
)
ASSUMED = Risk("results are correct only if {condition}. Check this in the input")
LACKS_NEWER = Risk(
    "the new results lack {records} after the processed offsets", records="up to N records"
)
STATE_LACKS_LATE = Risk(
    "the state of {pipeline} doesn't include the late records. When the query next writes a "
    "result for the key of a late record, this result lacks the late records again. Then run "
    "late-batch again"
)


def risks_of(
    request: PlanRequest,
    version: Version,
    topics: Mapping[str, Topic],
    known: Ranges,
    needed: NeededInput,
    touch: LateTouch,
) -> list[str]:
    """Return what whoever approves has to know."""
    risks = [
        _touched(touch),
        _read(known, needed),
        LATE_INCLUDED(),
    ]
    if touch.repeated or touch.in_input:
        risks.append(
            DUPLICATES_LEFT_OUT(
                records=plural(touch.repeated + touch.in_input, "late record"),
                repeated=touch.repeated,
                in_input=touch.in_input,
            )
        )
    if "lateness" in request.options:
        risks.append(LATENESS_ASSUMED(lateness=request.options["lateness"]))
    risks += [
        SCAN_LEAVES_OUT(topic=name, offsets=plural(count, "offset"))
        for name, count in left_out(topics, known)
    ]
    risks += [INPUT_EXPIRED(deleted=deleted_words(topics[name])) for name in needed.expired]
    risks += [ASSUMED(condition=said) for said in touch.assumed]
    if newer := newer_records(topics, known):
        risks.append(LACKS_NEWER(records=as_records(newer)))
    if _keeps_totals(version):
        risks.append(STATE_LACKS_LATE(pipeline=request.pipeline.name))
    risks += common.lost_risks(topics)
    risks += load_risks(request, topics, needed.offsets, limit="")
    risks += retention_risks(request.inspector, topics, needed.offsets)
    return [*risks, *function_risks(request)]


TOUCHED = Risk(
    "the late records belong to {keys} (the touched keys){windows}. {touched} of "
    "{results}{share} {are} replaced or deleted",
    keys="N keys",
    windows=" and N windows of these keys",
    touched="N",
    results="N results",
    share=" (N %)",
    are="are",
)


def _touched(touch: LateTouch) -> str:
    of = f" and {plural(touch.pairs, 'window')} of these keys" if touch.time else ""
    share = f" ({100 * touch.touched_rows / touch.rows:.3g} %)" if touch.rows else ""
    return TOUCHED(
        keys=plural(touch.keys, "key"),
        windows=of,
        touched=touch.touched_rows,
        results=plural(touch.rows, "result"),
        share=share,
        are="is" if touch.touched_rows == 1 else "are",
    )


READ = Risk(
    "the run reads {total} of {records}{share}, and ignores the records of other keys",
    total="N",
    records="N input records",
    share=" (N %)",
)


def _read(known: Ranges, needed: NeededInput) -> str:
    everything = sum(e - b for parts in known.values() for b, e in parts.values())
    share = f" ({100 * needed.total / everything:.3g} %)" if everything else ""
    return READ(total=needed.total, records=plural(everything, "input record"), share=share)


def _keeps_totals(version: Version) -> bool:
    return any(
        o.kind is OperatorKind.AGGREGATE and o.window is None for o in version.stateful or ()
    )


RISKS = (
    LATE_INCLUDED,
    DUPLICATES_LEFT_OUT,
    LATENESS_ASSUMED,
    SCAN_LEAVES_OUT,
    INPUT_EXPIRED,
    ASSUMED,
    LACKS_NEWER,
    STATE_LACKS_LATE,
    TOUCHED,
    READ,
    *common.LOST_RISKS,
    *LOAD_RISKS,
    FIRST_RECORD_EXPIRES,
    *FUNCTION_RISKS,
)
