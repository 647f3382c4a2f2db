"""What a plan costs: records and bytes, time, who gets data twice, what can't be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st

from headgate.reprocess.deleted_records import EARLIEST_OFFSETS
from headgate.reprocess.impact import MEASURED, not_undoable, uncounted
from headgate.reprocess.plan import UNDO, Plan
from headgate.text.numbers import NONE, as_records, count, duration, exact, size
from headgate.ui.reprocess.dead_letters_panel import dead_letters_panel
from headgate.ui.shared import markup
from headgate.views.reports.plan_outputs import what_remains
from headgate.views.words.chain import HEAD as CHAIN_HEAD
from headgate.views.words.chain import KEY as CHAIN
from headgate.views.words.chain import chain_rows
from headgate.views.words.dead_letters import KEYS as LETTERS
from headgate.views.words.impact import (
    copied_words,
    copy_words,
    counted,
    downstream_words,
    duration_words,
    kept_words,
    range_lines,
    snapshot_words,
)

_SHOWN = frozenset(
    {
        *("records", "total", "skipped", "to_read", "uncounted", "snapshot", EARLIEST_OFFSETS),
        *("range", "lateness_ms"),
        *(*MEASURED, *LETTERS, CHAIN),
    }
)


def impact_tiles(plan: Plan) -> None:
    """Show the numbers that the approver checks first."""
    if not plan.steps or plan.scenario == UNDO:
        return
    st.html(markup.tiles(_tiles(plan)))


def _tiles(plan: Plan) -> Iterator[tuple[str, str, str]]:
    impact = plan.impact
    if what := uncounted(impact):
        yield "Records reprocessed", NONE, what
    elif impact.get("total") is not None:
        amount = size(impact.get("bytes_total")) if "bytes_total" in impact else ""
        note = f"size {NONE}" if amount == NONE else f"about {amount}" if amount else ""
        yield (
            "Records reprocessed",
            counted(impact, impact["total"], count(impact["total"])),
            note if impact["total"] else "",
        )
    if skipped := sum(impact.get("skipped", {}).values()):
        yield "Records skipped", counted(impact, skipped, count(skipped)), "never read"
    if "seconds_how" in impact:
        waits = sum(impact.get("to_read", impact["records"]).values())
        yield (
            "Duration",
            _time(impact),
            f"{as_records(waits, count(waits))} to read" if impact["records"] else "",
        )
    if kept := impact.get("snapshot"):
        yield "Snapshot", size(kept["bytes"]), copied_words(kept)
    if (found := impact.get("downstream")) is not None:
        readers = len(found["pipelines"]) + len(found["groups"])
        yield "Downstream consumers", str(readers) if found["known"] or readers else NONE, ""
    if stuck := what_remains(plan):
        yield "Can't be undone", stuck, "written results remain" if plan.outputs.remains else ""


def _time(impact: Mapping[str, Any]) -> str:
    seconds = impact.get("seconds")
    if seconds is None:
        return NONE
    return f"≈ {duration(round(seconds) * 1000 or 1000)}" if seconds else "0 s"


def impact_details(plan: Plan) -> None:
    """Show the numbers by topic, how they were found, and the consumers by name."""
    impact = plan.impact
    dead_letters_panel(impact)
    if chain := list(chain_rows(impact)):
        st.html(markup.section("Pipelines") + markup.table(CHAIN_HEAD, chain, numbers=0))
    if rows := list(_by_topic(impact)):
        with_bytes = "bytes" in impact
        head = ("Topic", "Records", "Size (about)")[: 3 if with_bytes else 2]
        st.html(
            markup.section("Records reprocessed") + markup.table(head, rows, numbers=len(head) - 1)
        )
    facts = list(_facts(plan))
    if facts:
        st.html(markup.facts(facts))


def _by_topic(impact: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    records = impact.get("records") or {}
    sizes = impact.get("bytes")
    rows = [*((n, r, (sizes or {}).get(n)) for n, r in records.items())]
    if len(rows) > 1:
        rows.append(("total", impact.get("total"), impact.get("bytes_total")))
    for name, number, taken in rows:
        amount = exact(None) if number is None else counted(impact, number)
        yield (name, amount, *([size(taken)] if sizes is not None else []))


def _facts(plan: Plan) -> Iterator[tuple[str, object]]:
    impact = plan.impact
    yield from range_lines(impact)
    if impact.get("bytes_how") and impact.get("total"):
        yield "Size estimate", impact["bytes_how"]
    if "seconds_how" in impact:
        yield "Duration", duration_words(impact)
    if kept := impact.get("snapshot"):
        yield "Snapshot", snapshot_words(kept)
    if copies := copy_words(impact):
        yield "Copy", copies
    if (found := impact.get("downstream")) is not None:
        yield "Downstream consumers", downstream_words(found, plan)
    if stuck := not_undoable(plan):
        yield "Can't be undone", list(stuck)
    if until := kept_words(impact):
        yield "Snapshot retention", until
    for key, value in impact.items():
        if key not in _SHOWN and value:
            yield key.replace("_", " ").capitalize(), _plain(key, value)


def _plain(key: str, value: Any) -> object:
    if isinstance(value, Mapping):
        return [f"{name}: {_plain(key, one)}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return size(value) if "bytes" in key else exact(value)
    return str(value)
