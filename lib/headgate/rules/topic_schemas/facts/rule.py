"""The shape of a rule about schemas, and what a rule sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headgate.model.topic_schema import Direction, Effect, SchemaFinding

AVRO_SPEC = "https://avro.apache.org/docs/1.12.0/specification/#schema-resolution"
CONFLUENT = "https://docs.confluent.io/platform/current/schema-registry/fundamentals/"
PROTOBUF_RULES = f"{CONFLUENT}serdes-develop/serdes-protobuf.html"
PROTOBUF_SPEC = "https://protobuf.dev/programming-guides/proto3/#updating"
JSON_RULES = f"{CONFLUENT}serdes-develop/serdes-json.html"
EVOLUTION = f"{CONFLUENT}schema-evolution.html"


@dataclass(frozen=True, slots=True)
class Pair:
    """One place that both schemas have: `reader` reads there what `writer` wrote.

    `fits(reader, writer)` says whether a reader can read a writer without any finding that is
    incompatible: for unions, whose branches are tried one after the other.
    """

    reader: Any
    writer: Any
    path: str
    direction: Direction
    fits: Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Breach:
    """What a check yields. `reader` and `writer` are what each side has there, None for nothing."""

    path: str
    reader: str | None
    writer: str | None
    because: str


Check = Callable[[Pair], Iterable[Breach]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named check of one aspect; `why` is the check's docstring, which users read."""

    code: str
    why: str
    source: str
    effect: Effect
    remedy: str
    check: Check
    questions: tuple[str, ...] = ()

    @property
    def remedies(self) -> tuple[str, ...]:
        """Its one remedy, as rules of other kinds have several."""
        return (self.remedy,) if self.remedy else ()

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
    remedy: str = "",
    questions: tuple[str, ...] = (),
) -> Callable[[Check], Rule]:
    """Turn a check into a `Rule`; its docstring is the reason that users read."""

    def wrap(check: Check) -> Rule:
        if not check.__doc__:
            raise TypeError(f"{code} has no docstring to show as its reason")
        return Rule(code, " ".join(check.__doc__.split()), source, effect, remedy, check, questions)

    return wrap
