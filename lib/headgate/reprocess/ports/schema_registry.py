"""Subjects of a schema registry, as plans see and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectVersion:
    """One version of a schema registry's subject, as it was registered.

    `references` are (name, subject, version) of what the schema refers to.
    """

    version: int
    id: int
    type: str
    text: str
    references: tuple[tuple[str, str, int], ...] = ()


class SchemaInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def subjects(self, names: Iterable[str]) -> Mapping[str, tuple[SubjectVersion, ...]]:
        """Return those subjects of the schema registry that exist, oldest version first.

        Empty where no registry is configured; UnreachableError where it does not answer.
        """

    def subject_levels(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return the compatibility levels of their own that subjects have, in capitals.

        A subject without one, which follows the registry's, is left out.
        """


class SchemaApplier(SchemaInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def delete_subject(self, subject: str) -> None:
        """Delete a subject of the schema registry; fine if it is gone."""

    def register_schema(self, subject: str, version: SubjectVersion) -> int:
        """Register a schema under a subject, unless it is there; return its id."""

    def set_subject_level(self, subject: str, level: str | None) -> None:
        """Give a subject a compatibility level of its own; None: let it follow the registry's."""
