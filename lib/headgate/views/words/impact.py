"""What a plan costs, in words: for the command line, and for the page beside its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.reprocess.impact import again, not_undoable, uncounted
from headgate.reprocess.plan import Plan
from headgate.text.numbers import duration, exact, plural, short_time, size, span, up_to
from headgate.views.words.chain import chain_lines
from headgate.views.words.dead_letters import dead_letter_lines

SHOWN = 12
"""Maximum number of names that a line lists; the rest are counted."""

OF_CATCH_UP = ("Records reprocessed", "Records to read", "Duration")
"""Lines that aren't shown if the run itself processes records: its estimate replaces them."""


def impact_lines(plan: Plan) -> list[tuple[str, str]]:
    """Return name and sentence of everything that is known of a plan's cost."""
    kept = plan.impact.get("snapshot")
    snapshot = [("Snapshot", snapshot_words(kept))] if kept else []
    until = kept_words(plan.impact)
    undo = [("Snapshot retention", until)] if until else []
    copy = copy_words(plan.impact)
    copies = [("Copying", copy)] if copy else []
    kept_lines = [*snapshot, *copies]
    letters = dead_letter_lines(plan.impact)
    located = range_lines(plan.impact)
    read = [*letters, *_reprocessed(plan.impact), *located, *_time(plan.impact)]
    return [*chain_lines(plan.impact), *read, *kept_lines, *_after(plan), *undo]


def _reprocessed(impact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if what := uncounted(impact):
        known = f"{_records(impact, total)}, and an " if (total := impact.get("total")) else ""
        yield "Records reprocessed", f"{known}unknown number of records ({what})"
    elif impact.get("total") is not None:
        yield "Records reprocessed", f"{_records(impact, impact['total'])}{_in_bytes(impact)}"
    if skipped := sum(impact.get("skipped", {}).values()):
        yield "Records skipped", _records(impact, skipped)
    if to_read := sum(impact.get("to_read", {}).values()):
        yield "Records to read", _records(impact, to_read)


def range_lines(impact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield where the records of a historical range are, and how late records are."""
    for topic, found in impact.get("range", {}).items():
        ranges = found["offsets"].items()
        spans = [span((topic, int(part)), begin, end) for part, (begin, end) in ranges]
        times = f"event times {short_time(found['first'])} to {short_time(found['last'])} UTC"
        yield f"Range in {topic}", f"{times}, {names(spans)}"
    if (late := impact.get("lateness_ms")) is not None:
        yield (
            "Lateness",
            f"at most {duration(late)} behind an earlier record of the same partition (measured "
            "event times)",
        )


def counted(impact: Mapping[str, Any], number: int, shown: str | None = None) -> str:
    """Return a number of records of an impact: dead letters were read, others are offsets."""
    shown = shown or exact(number)
    return shown if "dead_letters" in impact else up_to(number, shown)


def _records(impact: Mapping[str, Any], number: int) -> str:
    return plural(number, "record", counted(impact, number))


def _in_bytes(impact: Mapping[str, Any]) -> str:
    if "bytes_how" not in impact or not impact["total"]:
        return ""
    if impact.get("bytes_total") is None:
        return f", bytes unknown ({impact['bytes_how'].removeprefix('unknown: ')})"
    return f", about {size(impact['bytes_total'])} ({impact['bytes_how']})"


def _time(impact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "seconds_how" in impact:
        yield "Duration", duration_words(impact)


def snapshot_words(kept: Mapping[str, Any]) -> str:
    """Return how much is kept, and how much of it takes disk space of its own."""
    files = f"{plural_exact(kept['files'], 'file')}, " if "files" in kept else ""
    return f"{files}{size(kept['bytes'])}, {copied_words(kept)}"


def copied_words(kept: Mapping[str, Any]) -> str:
    """Return what of a snapshot takes disk space: data of stores are linked if possible."""
    if not kept["copied"]:
        return "as hard links, which use almost no disk space"
    if kept["copied"] == kept["bytes"]:
        return "full copy"
    return f"{size(kept['copied'])} copied, the rest as hard links"


def copy_words(impact: Mapping[str, Any]) -> str | None:
    """Return how long the copy of a remote checkpoint takes, None where none is made."""
    if "copy_how" not in impact:
        return None
    seconds, how = impact["copy_seconds"], impact["copy_how"]
    return how if seconds is None else f"about {duration(round(seconds) * 1000 or 1000)}: {how}"


def kept_words(impact: Mapping[str, Any]) -> str | None:
    """Return until when an undo finds what it needs, None where that is not known."""
    seconds = impact.get("kept_seconds")
    if seconds is None:
        return None
    days, rest = divmod(seconds, 86_400)
    age = plural(days, "day") if days and not rest else plural(-(-seconds // 3600), "hour")
    return f"kept for {age} after the end of the run ([runs] keep_snapshots in headgate.toml)"


def duration_words(impact: Mapping[str, Any]) -> str:
    """Return the estimated duration with its rate, or why it is not known."""
    how = str(impact["seconds_how"])
    if not impact.get("seconds"):
        return how
    return f"about {duration(round(impact['seconds']) * 1000 or 1000)}: {how}"


def _after(plan: Plan) -> Iterator[tuple[str, str]]:
    if (found := plan.impact.get("downstream")) is not None:
        yield "Downstream", downstream_words(found, plan)
    if stuck := not_undoable(plan):
        yield "Can't be undone", names(stuck)


def no_undo_words(plan: Plan) -> str | None:
    """Return the sentence to confirm before a run with steps that no undo rolls back."""
    if not (stuck := not_undoable(plan)):
        return None
    return f"No undo is possible for {plural(len(stuck), 'step')}: {names(stuck)}."


def downstream_words(found: Mapping[str, Any], plan: Plan) -> str:
    """Return who gets the results of a plan's pipeline, and whether a second time."""
    told = [*_pipelines(found), *(f"group {g} (undeclared)" for g in found["groups"])]
    if not told:
        known = "no known consumers of the outputs"
        return (
            known
            if found["known"]
            else ("unknown: no evidence of the pipeline's outputs or consumers")
        )
    verb = "gets" if len(told) == 1 else "get"
    return f"{names(told)} {verb} {_gets(plan)}"


def _gets(plan: Plan) -> str:
    if plan.options.get("outputs") == "new" or plan.options.get("new-output"):
        return "no new results before a switch to the new outputs"
    is_twice = again(plan.impact) != 0
    return "duplicates, unless results are overwritten by key" if is_twice else "the results"


def _pipelines(found: Mapping[str, Any]) -> Iterator[str]:
    owner = {name: who for who, mine in found["owners"].items() for name in mine}
    for name in found["pipelines"]:
        yield f"{name} ({owner[name]})" if name in owner else f"{name} (no owner set)"


def names(told: list[str] | tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more


def plural_exact(number: int, word: str) -> str:
    """Return a count with all its digits and its word."""
    return plural(number, word).replace(str(number), exact(number), 1)
