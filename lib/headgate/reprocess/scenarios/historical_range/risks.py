"""Risks of a historical range: how exact its results are, and what they lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.cluster import Topic
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.historical_range.time_range import lateness
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.processed_records import (
    Ranges,
    function_risks,
    newer_records,
)
from headgate.reprocess.scenarios.shared.processing_mode import ProcessingMode
from headgate.text.numbers import as_records, duration
from headgate.text.risk import Risk

WINDOWS_MAY_STAY_OPEN = Risk(
    "the measured records may not close the last windows: results of open windows are missing "
    "or not final"
)
_OTHER_TIME = (
    "the time of a result (column {column}) isn't the event time of its records (column {time})"
)
WARM_UP = Risk(
    _OTHER_TIME + ". The run processes records with event times at most {warm_up} (--warm-up) "
    "before and after the range. Results of other records are missing",
    time="TIME_COLUMN",
    warm_up="DURATION",
)
ALL_MEASURED = Risk(
    _OTHER_TIME + ", so the run processes all measured records. To process fewer, pass "
    "--warm-up with the largest difference between both times",
    time="TIME_COLUMN",
)


def other_time(request: PlanRequest, found: EventTimes, column: str | None) -> str:
    """Say what follows if the time of a result isn't the event time of its records."""
    if warm_up := request.options.get("warm-up"):
        return WARM_UP(column=column, time=found.column, warm_up=warm_up)
    if "lateness" in request.options:
        said = _OTHER_TIME.format(column=column, time=found.column)
        return (
            f"{said}, so Headgate doesn't know which records --lateness must include. Omit "
            "--lateness, or pass --warm-up with the largest difference between both times"
        )
    return ALL_MEASURED(column=column, time=found.column)


SHUFFLED = Risk(
    "the query shuffles rows before withWatermark, so Headgate doesn't know which offsets "
    "have event times in the range. The run processes all records whose event times Headgate "
    "measured"
)
LACKS_NEWER = Risk(
    "the results lack {records} after the measured offsets", records="up to N records"
)


def input_risks(
    request: PlanRequest, topics: Mapping[str, Topic], scanned: Ranges, found: EventTimes
) -> list[str]:
    """Name the records that the results lack, or that are processed in vain."""
    risks = []
    if not found.is_exact:
        risks.append(SHUFFLED())
    if newer := newer_records(topics, scanned):
        risks.append(LACKS_NEWER(records=as_records(newer)))
    return [*risks, *common.lost_risks(topics, within=topics.keys()), *function_risks(request)]


ONLY_SCAN = Risk(
    "the result includes only records at the offsets of --scan. Other records of the range "
    "may be missing"
)
EXACT_WITHIN_LATENESS = Risk(
    "{is_exact}{measured} if no record is more than {lateness} late, compared with the newest "
    "Kafka timestamp before it in its partition. Otherwise, records may be missing",
    is_exact="the result is exact (a stream: the input is complete)",
    measured=" up to the measured offsets",
    lateness="DURATION",
)
EXACT_AS_MEASURED = Risk(
    EXACT_WITHIN_LATENESS.text + ". The measured records are at most {time} late",
    is_exact="the result is exact (a stream: the input is complete)",
    measured=" up to the measured offsets",
    lateness="DURATION",
)
EXACT_UP_TO_MEASURED = Risk(
    "{is_exact} up to the measured offsets, and lacks later records",
    is_exact="the result is exact (a stream: the input is complete)",
)
EXACT_AS_KAFKA_STORES = Risk(
    "{is_exact}: Headgate measured the event times of all records that Kafka still has. The "
    "deleted ones are from before the range",
    is_exact="the result is exact (a stream: the input is complete)",
)
EXACT_WHOLE = Risk(
    "{is_exact}: Headgate measured the event times of all records of the topics",
    is_exact="the result is exact (a stream: the input is complete)",
)


def exactness(
    late: Any, scanned: Ranges, needed: Ranges, found: EventTimes, mode: ProcessingMode
) -> str:
    """Return how exact the result is; `needed` are the offsets that --lateness requires."""
    # What a stream drops as late, its input has.
    is_exact = "the input is complete" if mode.is_stream else "the result is exact"
    parts = [(t, n, r) for t, of in needed.items() for n, r in of.items() if r[0] < r[1]]
    limits = [(scanned.get(t, {}).get(n, (r[1], 0)), r) for t, n, r in parts]
    if any(begin > first or begin >= end for (begin, end), (first, _) in limits):
        return ONLY_SCAN()
    is_short = any(end < after for (_, end), (_, after) in limits)
    if late is not None:
        most = lateness(found.slices)
        measured = None if is_short else ""
        if not most:
            return EXACT_WITHIN_LATENESS(is_exact=is_exact, measured=measured, lateness=late)
        return EXACT_AS_MEASURED(
            is_exact=is_exact, measured=measured, lateness=late, time=duration(most)
        )
    if is_short:
        return EXACT_UP_TO_MEASURED(is_exact=is_exact)
    if any(begin for of in scanned.values() for begin, _ in of.values()):
        return EXACT_AS_KAFKA_STORES(is_exact=is_exact)
    return EXACT_WHOLE(is_exact=is_exact)


RISKS = (
    ONLY_SCAN,
    EXACT_WITHIN_LATENESS,
    EXACT_AS_MEASURED,
    EXACT_UP_TO_MEASURED,
    EXACT_AS_KAFKA_STORES,
    EXACT_WHOLE,
    SHUFFLED,
    LACKS_NEWER,
    WARM_UP,
    ALL_MEASURED,
    WINDOWS_MAY_STAY_OPEN,
)
