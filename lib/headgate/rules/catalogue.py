"""Every rule of every kind: Spark's, Kafka Streams', readiness and schemas."""

from __future__ import annotations

from importlib import import_module

from headgate.model.version import Engine
from headgate.rules.core.rule import NamedRule

_MODULES = (
    (Engine.SPARK.words, "headgate.rules.spark.codes"),
    (Engine.KAFKA_STREAMS.words, "headgate.rules.kafka_streams.codes"),
    ("Any engine", "headgate.rules.compare.other_engines"),
    ("Downstream impact", "headgate.rules.compare.downstream_impact"),
    ("Twin runs", "headgate.rules.compare.twin_findings"),
    ("Twin runs of Kafka Streams", "headgate.rules.compare.twin_streams_findings"),
    ("Readiness", "headgate.rules.readiness.codes"),
    ("Schemas", "headgate.rules.topic_schemas.codes"),
)


def rules_by_kind() -> dict[str, tuple[NamedRule, ...]]:
    """Return all rules by what they are about, in the order in which they are run."""
    return {kind: import_module(module).RULES for kind, module in _MODULES}


def all_rules() -> tuple[NamedRule, ...]:
    """Return the rules of all kinds in one tuple; codes are unique over all of them."""
    return tuple(rule for rules in rules_by_kind().values() for rule in rules)
