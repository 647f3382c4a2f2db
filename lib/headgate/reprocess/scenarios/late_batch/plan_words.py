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
    Ranges,
    deleted_words,
    function_risks,
    newer_records,
    retention_risks,
)
from headgate.reprocess.scenarios.shared.processing_mode import load_risks
from headgate.text.numbers import as_records, plural


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
        "Spark processes the records as a batch. In a batch no record is late, so the new results "
        "also include records that the query dropped as late",
    ]
    if touch.repeated or touch.in_input:
        risks.append(
            f"duplicates are left out: {plural(touch.repeated + touch.in_input, 'late record')} "
            f"({touch.repeated} repeated, {touch.in_input} already in the input)"
        )
    if "lateness" in request.options:
        risks.append(
            "new results are exact only if each input record of their windows arrived within "
            f"{request.options['lateness']} of its event time (--lateness). A record's arrival is "
            "the newest Kafka timestamp up to this record in its partition. The new results lack "
            "records that arrived earlier or later, except the late records of this plan"
        )
    risks += [
        f"--scan leaves out earlier records of {name} ({plural(count, 'offset')}). The new results "
        "lack these records. For the keys of the late records, results that come only "
        "from such records are deleted"
        for name, count in left_out(topics, known)
    ]
    risks += [
        f"{deleted_words(topics[name])}. The new results lack these records. "
        "For the keys of the late records, results that come only from such records are deleted"
        for name in needed.expired
    ]
    risks += [
        f"results are correct only if {said}. Check this in the input" for said in touch.assumed
    ]
    if newer := newer_records(topics, known):
        risks.append(f"the new results lack {as_records(newer)} after the processed offsets")
    if _keeps_totals(version):
        risks.append(
            f"the state of {request.pipeline.name} doesn't include the late records. When the "
            "query next writes a result for the key of a late record, this result lacks the "
            "late records again. Then run late-batch again"
        )
    risks += common.lost_risks(topics)
    risks += load_risks(request, topics, needed.offsets, limit="")
    risks += retention_risks(request.inspector, topics, needed.offsets)
    return [*risks, *function_risks(request)]


def _touched(touch: LateTouch) -> str:
    of = f" and {plural(touch.pairs, 'window')} of these keys" if touch.time else ""
    share = f" ({100 * touch.touched_rows / touch.rows:.3g} %)" if touch.rows else ""
    return (
        f"the late records belong to {plural(touch.keys, 'key')} (the touched keys){of}. "
        f"{touch.touched_rows} of {plural(touch.rows, 'result')}{share} "
        f"{'is' if touch.touched_rows == 1 else 'are'} replaced or deleted"
    )


def _read(known: Ranges, needed: NeededInput) -> str:
    everything = sum(e - b for parts in known.values() for b, e in parts.values())
    share = f" ({100 * needed.total / everything:.3g} %)" if everything else ""
    return (
        f"the run reads {needed.total} of {plural(everything, 'input record')}{share}, and ignores "
        "the records of other keys"
    )


def _keeps_totals(version: Version) -> bool:
    return any(
        o.kind is OperatorKind.AGGREGATE and o.window is None for o in version.stateful or ()
    )
