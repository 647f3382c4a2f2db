"""The choices for each pipeline of a chain, and their defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.scenarios.shared.pipeline_links import Member


class Choice(StrEnum):
    """REWIND: state and offsets of an earlier batch. RESET: empty state.

    SKIP: state kept, offsets past the replaced records. NOTHING: it isn't touched.
    """

    RESET = "reset"
    REWIND = "rewind"
    SKIP = "skip"
    NOTHING = "nothing"


def read_choices(rows: Iterable[str], excluded: Iterable[str]) -> dict[str, Choice]:
    """Return what was chosen, by pipeline; ScenarioError for a row of another form."""
    found = dict.fromkeys(excluded, Choice.NOTHING)
    words = ", ".join(choice.value for choice in Choice)
    for row in rows:
        name, _, word = (part.strip() for part in row.rpartition("="))
        if not name or word not in set(Choice):
            raise ScenarioError(f"--choose: expected PIPELINE=CHOICE ({words}), found {row!r}")
        if found.get(name, word) != word:
            raise ScenarioError(f"--choose: pass only one choice for {name}")
        found[name] = Choice(word)
    return found


def unknown_names(names: Iterable[str], known: Mapping[str, Member], first: str) -> list[str]:
    """Return why options name pipelines that the chain doesn't have."""
    others = ", ".join(n for n in known if n != first) or "none"
    return [
        f"{name} isn't downstream of {first}. Downstream pipelines: {others}"
        for name in names
        if name not in known
    ]


def default_of(member: Member, *, to_earliest: bool, leads_on: bool) -> Choice | None:
    """Return what gives correct results for a pipeline downstream; None if nothing does.

    `to_earliest`: everything that it reads is rewritten. `leads_on`: others in the chain read
    what it writes.
    """
    engine = member.pipeline.engine
    if member.is_stateless and (to_earliest or not leads_on or engine is not Engine.SPARK):
        return Choice.SKIP
    if to_earliest:
        return Choice.RESET
    return Choice.REWIND if engine is Engine.SPARK else None
