"""Every rule of every kind: Spark's, Kafka Streams', readiness and schemas."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

_MODULES = (
    ("Spark", "headgate.rules.spark.codes"),
    ("Kafka Streams", "headgate.rules.kafka_streams.codes"),
    ("Any engine", "headgate.rules.compare.other_engines"),
    ("Downstream impact", "headgate.rules.compare.downstream_impact"),
    ("Readiness", "headgate.rules.readiness.codes"),
    ("Schemas", "headgate.rules.topic_schemas.codes"),
)


class AnyRule(Protocol):
    """What rules of every kind have: a stable code, the reason that users read, how it is known."""

    @property
    def code(self) -> str:
        """The code that findings carry; it never changes its meaning."""

    @property
    def why(self) -> str:
        """The docstring of the check."""

    @property
    def source(self) -> str:
        """A page of the documentation, or what it was measured on."""

    @property
    def remedies(self) -> tuple[str, ...]:
        """All that its findings say to do, as templates."""

    @property
    def questions(self) -> tuple[str, ...]:
        """All that its findings ask, as templates."""

    @property
    def check(self) -> Callable[..., Any]:
        """The function itself."""


def rules_by_kind() -> dict[str, tuple[AnyRule, ...]]:
    """Return all rules by what they are about, in the order in which they are run."""
    return {kind: import_module(place).RULES for kind, place in _MODULES}


def all_rules() -> tuple[AnyRule, ...]:
    """Return the rules of all kinds in one tuple; codes are unique over all of them."""
    return tuple(rule for rules in rules_by_kind().values() for rule in rules)
