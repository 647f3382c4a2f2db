"""The shape of a rule about schemas, and what a rule sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headgate.model.topic_schema import Direction, Effect, SchemaFinding
from headgate.rules.core.rule import NamedRule, Texts, declared

AVRO_SPEC = "https://avro.apache.org/docs/1.12.0/specification/#schema-resolution"
CONFLUENT = "https://docs.confluent.io/platform/current/schema-registry/fundamentals/"
PROTOBUF_RULES = f"{CONFLUENT}serdes-develop/serdes-protobuf.html"
PROTOBUF_SPEC = "https://protobuf.dev/programming-guides/proto3/#updating"
JSON_RULES = f"{CONFLUENT}serdes-develop/serdes-json.html"
EVOLUTION = f"{CONFLUENT}schema-evolution.html"


@dataclass(frozen=True, slots=True)
class Pair:
    """One node that both schemas have: `reader` is of the reader schema, `writer` of the writer's.

    `fits(reader, writer)` says whether a reader schema decodes a writer's without an incompatible
    finding: for unions, whose branches are tried one after the other.
    """

    reader: Any
    writer: Any
    path: str
    direction: Direction
    fits: Callable[[Any, Any], bool]

    def at(self, name: str) -> str:
        """Return the path of a field below this node."""
        return f"{self.path}.{name}" if self.path else name


@dataclass(frozen=True, slots=True)
class Breach:
    """What a check yields: what the reader schema and the writer's have there, None for nothing."""

    path: str
    reader: str | None
    writer: str | None
    because: str


Check = Callable[[Pair], Iterable[Breach]]


@dataclass(frozen=True, slots=True)
class SchemaRule(NamedRule):
    """A named check of one aspect of two schemas; it has one remedy."""

    effect: Effect = Effect.INCOMPATIBLE

    @property
    def remedy(self) -> str:
        """What all its findings say to do."""
        return self.remedies[0]

    def run(self, pair: Pair) -> Iterator[SchemaFinding]:
        """Yield one finding for every breach."""
        for breach in self.check(pair):
            backward = pair.direction is Direction.BACKWARD
            yield SchemaFinding(
                rule=self.code,
                effect=self.effect,
                path=breach.path,
                before=breach.writer if backward else breach.reader,
                after=breach.reader if backward else breach.writer,
                why=f"{breach.because} {self.why}".strip(),
                remedy=self.remedy,
                source=self.source,
                direction=pair.direction,
            )


def rule(
    code: str,
    source: str,
    effect: Effect = Effect.INCOMPATIBLE,
    *,
    remedy: str,
    questions: Texts = (),
) -> Callable[[Check], SchemaRule]:
    """Turn a check into a `SchemaRule`; its docstring is the reason that users read."""
    return declared(
        SchemaRule, code, source, effect=effect, remedies=(remedy,), questions=questions
    )
