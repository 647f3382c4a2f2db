"""The range of records to skip: how it is written, and whether the partition has it."""

from __future__ import annotations

import re

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.reprocess.ports.record_backup import Span
from headgate.text.numbers import offset_range

_FORM = re.compile(r"(?P<topic>[\w.-]+):(?P<part>\d+):(?P<first>\d+)(?:-(?P<last>\d+))?", re.ASCII)


def read_span(text: str) -> Span:
    """Return the range; ScenarioError where it is none."""
    found = _FORM.fullmatch(text.strip())
    first = int(found["first"]) if found else 0
    last = int(found["last"] or first) if found else -1
    if found is None or last < first:
        raise ScenarioError(
            "--records: expected TOPIC:PARTITION:OFFSET or TOPIC:PARTITION:FIRST-LAST, as in"
            f" orders:3:17-20, found {text!r}"
        )
    return Span(topic=found["topic"], partition=int(found["part"]), begin=first, end=last + 1)


def outside_log(span: Span, topic: Topic | None) -> list[str]:
    """Refuse a range that the partition does not hold in whole."""
    if topic is None:
        return []
    part = next((p for p in topic.partitions if p.number == span.partition), None)
    if part is None:
        return [f"topic {span.topic} has no partition {span.partition}: correct --records"]
    if span.begin >= (part.begin or 0) and span.end <= (part.end or 0):
        return []
    begin, end = part.begin or 0, part.end or 0
    has = f"it has {offset_range(begin, end)}" if begin < end else "it is empty"
    return [
        f"{span.topic}[{span.partition}] doesn't have {offset_range(span.begin, span.end)}: {has}. "
        "Correct --records"
    ]
