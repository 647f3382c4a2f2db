"""What a plan costs, in words: for the command line, and for the page beside its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.plan.impact import again, not_undoable
from headgate.plan.plan import Plan
from headgate.views.numbers import duration, exact, plural, size

SHOWN = 12
"""Of many names a line lists only the first."""


def impact_lines(plan: Plan) -> list[tuple[str, str]]:
    """Return name and sentence of everything that is known of a plan's cost."""
    kept = plan.impact.get("snapshot")
    snapshot = [("Snapshot", snapshot_words(kept))] if kept else []
    return [*_read_again(plan.impact), *_time(plan.impact), *snapshot, *_after(plan)]


def _read_again(impact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if again(impact) is None:
        how = str(impact.get("bytes_how", "unknown: it reads no topic that Kafka tells of"))
        yield "Read again", how
    elif impact.get("total") is not None:
        yield "Read again", f"{plural_exact(impact['total'], 'record')}{_in_bytes(impact)}"
    if skipped := sum(impact.get("skipped", {}).values()):
        yield "Never read", plural_exact(skipped, "record")
    if to_read := sum(impact.get("to_read", {}).values()):
        yield "Waits to be read then", plural_exact(to_read, "record")


def _in_bytes(impact: Mapping[str, Any]) -> str:
    if "bytes_how" not in impact or not impact["total"]:
        return ""
    if impact.get("bytes_total") is None:
        return f", bytes unknown ({impact['bytes_how'].removeprefix('unknown: ')})"
    return f", about {size(impact['bytes_total'])} ({impact['bytes_how']})"


def _time(impact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "seconds_how" in impact:
        yield "Takes", duration_words(impact)


def snapshot_words(kept: Mapping[str, Any]) -> str:
    """Return how much is kept, and how much of it takes room of its own."""
    files = plural_exact(kept["files"], "file")
    return f"{files}, {size(kept['bytes'])}, of which {size(kept['copied'])} are copied"


def duration_words(impact: Mapping[str, Any]) -> str:
    """Return the estimated duration with its rate, or why it is not known."""
    how = str(impact["seconds_how"])
    if not impact.get("seconds"):
        return how
    return f"about {duration(round(impact['seconds']) * 1000 or 1000)}: {how}"


def _after(plan: Plan) -> Iterator[tuple[str, str]]:
    if (found := plan.impact.get("downstream")) is not None:
        yield "Downstream", downstream_words(found, twice=again(plan.impact) != 0)
    if stuck := not_undoable(plan):
        yield "Can't be undone", names(stuck)


def downstream_words(found: Mapping[str, Any], *, twice: bool) -> str:
    """Return who gets the results; `twice` says that they get some of them a second time."""
    told = [*_pipelines(found), *(f"group {g} (nobody declared it)" for g in found["groups"])]
    if not told:
        known = "nobody that is known reads what it writes"
        return known if found["known"] else "unknown: nothing tells what it writes, or who reads it"
    verb = "get results twice, unless they are overwritten by key" if twice else "get its results"
    return f"{names(told)} {verb}"


def _pipelines(found: Mapping[str, Any]) -> Iterator[str]:
    owner = {name: who for who, mine in found["owners"].items() for name in mine}
    for name in found["pipelines"]:
        yield f"{name} ({owner[name]})" if name in owner else f"{name} (no owner)"


def names(told: list[str] | tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more


def plural_exact(number: int, word: str) -> str:
    """Return a count with all its digits and its word."""
    return plural(number, word).replace(str(number), exact(number), 1)
