"""One change of known truth, and what a verdict may say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate.rules.core.report import Outcome

R, W, U = Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN
OK, NO = Outcome.RESUMES, Outcome.NO_EFFECT
HARM = frozenset({R, W, U})
"""The engine refuses or goes wrong: nothing may call it harmless."""
MIXED = frozenset({OK, R, W, U})
"""It may go on, on top of a history made otherwise; but somebody must be told."""
HARMLESS = frozenset({OK, NO})

Files = Mapping[str, str]
"""The evidence of one version: text by file name."""


@dataclass(frozen=True, slots=True)
class Base:
    """A version that was recorded: what its old side is read from, and its new side's files.

    `forms` are plans of one and the same query by their form (`json`, `formatted`, ...), each a
    file name and its text; `session` are the files that say nothing of the plan.
    """

    name: str
    before: tuple[Path, ...]
    forms: Mapping[str, tuple[str, str]]
    session: Files


@dataclass(frozen=True, slots=True)
class Mutant:
    """The files of a changed version, and the outcomes that are honest for it.

    `told` says that an empty report, or one that calls everything exact, would hide the change.
    """

    kind: str
    what: str
    files: Files
    allowed: frozenset[Outcome]
    told: bool = True


Mutate = Callable[[Base], Iterator[Mutant]]
