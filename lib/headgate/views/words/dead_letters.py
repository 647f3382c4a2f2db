"""What a dead letter topic holds, in words: for the command line, and for the page's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.text.numbers import duration, exact, name_list, plural
from headgate.text.times import from_milliseconds, iso

KEYS = frozenset(
    (
        "dead_letters",
        "redrive_seconds",
        "reasons",
        "source_topics",
        "conventions",
        "attempts",
        "samples",
    )
)
"""Keys of a plan's impact that this module describes."""
DECISIONS = {
    "to_redrive": "to redrive",
    "already_redriven": "already redriven",
    "at_max_attempts": "at the maximum number of attempts",
    "without_target": "without a target topic",
    "not_selected": "not selected",
}
GROUPS = {
    "reasons": "Reason",
    "source_topics": "Source topic",
    "conventions": "Written by",
    "attempts": "Earlier redrives",
}
_SHOWN = 6


def dead_letter_lines(impact: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and sentence of what was counted; none for other scenarios."""
    found = impact.get("dead_letters")
    if found is None:
        return []
    groups = [(name, _counts(impact[key])) for key, name in GROUPS.items() if impact.get(key)]
    return [
        ("Dead letters", f"{read_words(found)}: {decided_words(found)}"),
        *groups,
        *([("Newest", age)] if (age := newest_words(found)) else []),
        ("Redrive", redrive_words(impact)),
        *(("Sample", sample_words(sample)) for sample in impact.get("samples", ())),
    ]


def read_words(found: Mapping[str, Any]) -> str:
    """Return how many records were read, and of how many."""
    numbers = found.get("partitions", ())
    parts = name_list(map(str, numbers))
    of = f"partition{'s' if len(numbers) > 1 else ''} {parts}" if numbers else "the whole topic"
    if found["is_sample"]:
        held = plural(found["offsets"], "record", exact(found["offsets"]))
        return f"{exact(found['read'])} of up to {held} read (a sample of {of})"
    return f"{plural(found['read'], 'record')} read ({of})"


def decided_words(found: Mapping[str, Any]) -> str:
    """Return what becomes of the records that were read."""
    said = [f"{exact(found[key])} {word}" for key, word in DECISIONS.items() if found.get(key)]
    return ", ".join(said) or "nothing to redrive"


def newest_words(found: Mapping[str, Any]) -> str:
    """Return the times of the oldest and the newest selected record; empty if none has one."""
    if found.get("newest") is None:
        return ""
    first, last = (iso(from_milliseconds(found[key])) for key in ("oldest", "newest"))
    return f"{last}; oldest: {first}"


def redrive_words(impact: Mapping[str, Any]) -> str:
    """Return how many records are written, and how long the rate limit makes that take."""
    if not impact["total"]:
        return "0 records"
    seconds = impact["redrive_seconds"]
    took = duration(round(seconds) * 1000 or 1000)
    return f"{plural(impact['total'], 'record')}, about {took} at the rate limit"


def sample_words(sample: Mapping[str, Any]) -> str:
    """Return one dead letter; of its value only the form is shown."""
    message = f": {sample['message']}" if sample["message"] else ""
    place = f"partition {sample['partition']}, offset {sample['offset']}"
    return f"{place}, from {sample['source']}, {sample['reason']}{message}, value {sample['value']}"


def _counts(rows: Mapping[str, int]) -> str:
    shown = [f"{name} {exact(number)}" for name, number in list(rows.items())[:_SHOWN]]
    more = len(rows) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
