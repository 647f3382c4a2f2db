"""Schemas of a topic, and the result of comparing two of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from headgate.model.registered_pipelines import Acceptance


class SchemaFormat(StrEnum):
    """The format of a schema; the values are those of a registry's `schemaType`."""

    AVRO = "AVRO"
    PROTOBUF = "PROTOBUF"
    JSON = "JSON"


class Mode(StrEnum):
    """The compatibility that new versions must have, in the registry's terms.

    BACKWARD: consumers with the new schema can read records of the old schema. FORWARD: consumers
    with the old schema can read records of the new schema. FULL: both. The transitive modes apply
    to all older versions, the others only to the newest one.
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
        """Whether the new schema must be compatible with all older versions."""
        return self.value.endswith("_transitive")

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions in which schemas must be compatible."""
        name = self.value.removesuffix("_transitive")
        return tuple(d for d in Direction if name in (d.value, Mode.FULL.value))


class Direction(StrEnum):
    """BACKWARD: the new schema reads old records. FORWARD: the old schema reads new records."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Effect(IntEnum):
    """What a change does to consumers; a larger value is worse.

    INCOMPATIBLE: consumers fail, and a registry rejects the schema. SILENTLY_WRONG: consumers read
    a default, a null or a value with another meaning, and registries accept the schema.
    """

    COMPATIBLE = 0
    UNKNOWN = 1
    SILENTLY_WRONG = 2
    INCOMPATIBLE = 3

    @property
    def word(self) -> str:
        """The name on the command line and in JSON."""
        return self.name.lower()


NO_DEFAULT = "—"
"""Shown if a field has no default. A default of null is something else."""


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One field, also a nested one.

    `path` is the path from the record's root, with dots, `[]` for the items of an array and `{}`
    for the values of a map: `items[].price`. `type` is the type in the schema's format. `default`
    is JSON text or `NO_DEFAULT`. `optional`: a record can lack the field or have null. `number` is
    Protobuf's field number.
    """

    path: str
    type: str
    optional: bool = False
    default: str = NO_DEFAULT
    number: int | None = None

    @property
    def has_default(self) -> bool:
        """Whether the field has a default."""
        return self.default != NO_DEFAULT


@dataclass(frozen=True, slots=True)
class SchemaText:
    """The text of a schema; `name` is its name in errors: a file, or a subject with a version.

    `references` are the schemas that it imports: {name in the import: text}. Each of them needs
    only earlier ones.
    """

    text: str
    format: SchemaFormat | None = None
    name: str = "the schema"
    references: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """A parsed schema. Only the rules of its format use `tree`."""

    format: SchemaFormat
    name: str
    fields: tuple[SchemaField, ...]
    tree: Any = field(compare=False, repr=False)

    def field(self, path: str) -> SchemaField | None:
        """Return the field with this path, or None."""
        return next((f for f in self.fields if f.path == path), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSchema:
    """One version of a topic's schema: `subject` and `version` in the registry.

    For a file that headgate.toml declares, `subject` is its path and `version` is None.
    """

    subject: str
    version: int | None
    text: SchemaText
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFinding:
    """One finding of a rule.

    `path` is the field's path (empty: the whole schema). `before` and `after` are the old and new
    definition, None if there is none. `against` names the older version. Only rules about
    downstream pipelines set `pipeline`.
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
    """One field that was added, was removed or changed its type; `before` and `after` are types."""

    kind: FieldChangeKind
    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """The result of a comparison: findings, worst first, and changed fields.

    `second_opinion`: the registry's own check accepts the schema; None if the registry wasn't
    asked.
    """

    mode: Mode
    findings: tuple[SchemaFinding, ...] = ()
    changes: tuple[FieldChange, ...] = ()
    compared: tuple[str, ...] = ()
    second_opinion: bool | None = None
    warnings: tuple[str, ...] = ()

    @property
    def effect(self) -> Effect:
        """The effect of the worst finding; COMPATIBLE without findings."""
        return max((f.effect for f in self.findings), default=Effect.COMPATIBLE)

    def closes(self, words: Iterable[str]) -> bool:
        """Whether a finding that isn't accepted has one of these effects."""
        named = set(words)
        return any(f.effect.word in named for f in self.findings if f.accepted is None)
