"""What a topic's schema is, and what a comparison of two of them says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from headgate.model.registered_pipelines import Acceptance


class SchemaFormat(StrEnum):
    """How a schema is written; the values are those of a registry's `schemaType`."""

    AVRO = "AVRO"
    PROTOBUF = "PROTOBUF"
    JSON = "JSON"


class Mode(StrEnum):
    """What must hold between versions, in the registry's words.

    BACKWARD: readers with the new schema read what was written with the old one. FORWARD: readers
    with the old schema read what is written with the new one. FULL: both. The transitive ones ask
    it of every older version, the others of the newest one.
    """

    NONE = "none"
    BACKWARD = "backward"
    FORWARD = "forward"
    FULL = "full"
    BACKWARD_TRANSITIVE = "backward_transitive"
    FORWARD_TRANSITIVE = "forward_transitive"
    FULL_TRANSITIVE = "full_transitive"

    @property
    def is_transitive(self) -> bool:
        """Whether all older versions count."""
        return self.value.endswith("_transitive")

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Which readers must go on reading."""
        name = self.value.removesuffix("_transitive")
        return tuple(d for d in Direction if name in (d.value, Mode.FULL.value))


class Direction(StrEnum):
    """Who reads: BACKWARD is the new schema on old records, FORWARD the old one on new records."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Effect(IntEnum):
    """What a change does to readers; a larger value is worse.

    INCOMPATIBLE: readers fail, and a registry refuses the schema. SILENTLY_WRONG: readers go on
    with a default, a null or another meaning, and no registry objects.
    """

    COMPATIBLE = 0
    UNKNOWN = 1
    SILENTLY_WRONG = 2
    INCOMPATIBLE = 3

    @property
    def word(self) -> str:
        """The word of the command line and of JSON."""
        return self.name.lower()


NO_DEFAULT = "—"
"""Shown if a field has no default. A default of null is something else."""


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One field, wherever it is nested.

    `path` names it from the record's root with dots, `[]` for an array's items and `{}` for a
    map's values: `items[].price`. `type` is the format's own word, `default` JSON text or
    `NO_DEFAULT`, `optional` whether a record may lack it or hold null. `number` is Protobuf's.
    """

    path: str
    type: str
    optional: bool = False
    default: str = NO_DEFAULT
    number: int | None = None

    @property
    def has_default(self) -> bool:
        """Whether a default is written."""
        return self.default != NO_DEFAULT


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as it is written; `name` is how errors call it, a file or a subject's version.

    `references` are what it names in other files: {name it is imported by: text}, in an order
    in which each needs only earlier ones.
    """

    text: str
    format: SchemaFormat | None = None
    name: str = "the schema"
    references: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """A schema that was read. `tree` is what the format's rules walk; no other code looks in."""

    format: SchemaFormat
    name: str
    fields: tuple[SchemaField, ...]
    tree: Any = field(compare=False, repr=False)

    def field(self, path: str) -> SchemaField | None:
        """Return the field of that path, or None."""
        return next((f for f in self.fields if f.path == path), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSchema:
    """One version of a topic's schema: `subject` and `version` as the registry counts them.

    A declared file has the file's path as its subject and no version.
    """

    subject: str
    version: int | None
    text: SchemaText
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFinding:
    """One thing that a rule noticed.

    `path` is the field's (empty: the whole schema), `before` and `after` what is written there,
    None where it is not. `against` names the older version. `pipeline` is set by the rules about
    pipelines downstream.
    """

    rule: str
    effect: Effect
    path: str
    before: str | None
    after: str | None
    why: str
    remedy: str
    source: str
    direction: Direction | None = None
    against: str = ""
    pipeline: str | None = None
    question: str | None = None
    accepted: Acceptance | None = None

    def __post_init__(self) -> None:
        if self.effect is Effect.UNKNOWN and not self.question:
            raise ValueError(f"{self.rule}: a finding with the outcome `unknown` needs a question")


class FieldChangeKind(StrEnum):
    """How a field differs between two versions."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that came, went or changed its type; `before` and `after` are types."""

    kind: FieldChangeKind
    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """The answer: findings worst first, and which fields came, went or changed.

    `second_opinion` is what the registry's own check says, None where it was not asked.
    """

    mode: Mode
    findings: tuple[SchemaFinding, ...] = ()
    changes: tuple[FieldChange, ...] = ()
    compared: tuple[str, ...] = ()
    second_opinion: bool | None = None
    warnings: tuple[str, ...] = ()

    @property
    def effect(self) -> Effect:
        """The worst finding's; without findings it is compatible."""
        return max((f.effect for f in self.findings), default=Effect.COMPATIBLE)

    def closes(self, words: Iterable[str]) -> bool:
        """Whether the effect of a finding that nobody accepted is one of `words`."""
        named = set(words)
        return any(f.effect.word in named for f in self.findings if f.accepted is None)
