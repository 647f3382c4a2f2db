"""Which records are late: offsets of the input or of other topics, or files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from headgate.model.cluster import Topic
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.processed_records import (
    Ranges,
    range_blockers,
    range_rows,
    read_ranges,
    whole_topics,
)
from headgate.text.numbers import name_list

NONE, OFFSETS, KEY, FIELD = "none", "offsets", "key", "value."


@dataclass(frozen=True, slots=True, kw_only=True)
class LateInput:
    """Late records of the topic `input`: `offsets` of `topics`, and `files` (FORMAT:PATH).

    `content` is the hash of the files. `rows` are the values of --late, with offsets for topics.
    """

    input: str
    offsets: Ranges = field(default_factory=dict)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    files: str | None = None
    content: str | None = None
    rows: tuple[str, ...] = ()


def read_late(request: PlanRequest, inputs: Mapping[str, Topic]) -> tuple[LateInput, list[str]]:
    """Return what --late and --input say, and why a plan can't be made of it."""
    given = [str(row) for row in request.options["late"]]
    folders = [row for row in given if PurePosixPath(row).is_absolute()]
    named = [row for row in given if row not in folders and ":" not in row]
    ranges = read_ranges([r for r in given if ":" in r and r not in folders], option="late")
    wanted = {*named, *ranges}
    topics = request.inspector.kafka.topics(wanted) if wanted else {}
    found = common.topic_blockers(wanted, topics)
    own = [name for name in named if name in inputs]
    found += [
        f"--late: {name} is the pipeline's input. Pass its late records as {name}:PARTITION:FROM-TO"
        for name in own
    ]
    if len(folders) > 1:
        found.append("--late: several folders were passed. Pass only one")
    if found:
        return LateInput(input=""), found
    offsets = {**ranges, **whole_topics({n: topics[n] for n in named})}
    found += range_blockers(offsets, topics, option="late", again=request.again)
    if not folders and not any(e > b for parts in offsets.values() for b, e in parts.values()):
        found.append("--late: no records found. Check the topic or the offsets")
    belongs, wrong = _input(request, inputs, set(offsets))
    late = LateInput(
        input=belongs,
        offsets=offsets,
        topics=topics,
        files=_files(request, folders),
        content=request.inspector.sinks.content_hash(folders[0]) if folders else None,
        rows=(*range_rows(offsets), *folders),
    )
    if folders and late.content is None:
        found.append(f"--late: folder {folders[0]} not found. Check the path")
    return late, [*found, *wrong]


def _files(request: PlanRequest, folders: list[str]) -> str | None:
    return f"{request.options.get('late-format', 'parquet')}:{folders[0]}" if folders else None


def _input(
    request: PlanRequest, inputs: Mapping[str, Topic], late: set[str]
) -> tuple[str, list[str]]:
    """Return the input topic that the late records belong to."""
    given = request.options.get("input")
    own = sorted(late & inputs.keys())
    if len(own) > 1:
        return "", [
            (
                f"--late: records of several inputs were passed ({name_list(own)}). Plan each "
                "input separately"
            )
        ]
    if given is None and (own or len(inputs) == 1):
        return (own or list(inputs))[0], []
    if given is None:
        return "", [
            f"--input: the query has several inputs ({name_list(inputs)}). Pass the input that "
            "the late records belong to"
        ]
    if given not in inputs:
        return "", [
            f"--input: {given} isn't an input of the query. Pass one of {name_list(inputs)}"
        ]
    if own and own != [given]:
        return "", [f"--input: the records of --late are in {own[0]}, not in {given}. Omit --input"]
    return str(given), []


def read_duplicates(request: PlanRequest) -> tuple[str, list[str]]:
    """Return what --duplicates says, as the program takes it, and what is wrong with it."""
    names = names_of(request, "duplicates") or (OFFSETS,)
    known = (NONE, OFFSETS, KEY)
    wrong = [n for n in names if n not in known and not n.startswith(FIELD)]
    if wrong:
        return "", [f"--duplicates: expected none, offsets, key or value.FIELD, found {wrong[0]!r}"]
    if NONE in names and len(names) > 1:
        others = name_list(set(names) - {NONE})
        return "", [f"--duplicates: pass either none or {others}, not both"]
    if "lateness" in request.options and set(names) - {NONE, OFFSETS}:
        return "", [
            "--duplicates: a duplicate can be anywhere in the input, but with --lateness "
            "Headgate reads only a part of the input. Omit --duplicates or --lateness"
        ]
    return ",".join(names), []


def names_of(request: PlanRequest, option: str) -> tuple[str, ...]:
    """Return the names of an option that takes several, also with commas between them."""
    given = request.options.get(option, ())
    return tuple(n.strip() for text in given for n in str(text).split(",") if n.strip())
