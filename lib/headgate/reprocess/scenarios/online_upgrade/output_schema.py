"""Whether the consumers of an output topic can read what the new version writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headgate.errors import SchemaError
from headgate.model.version import Sink
from headgate.reprocess.ports.inspector import Inspector
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

SCHEMA_UNKNOWN = Risk(
    "Headgate doesn't know the schema of {shadow_topic} yet. Before the switch, the run "
    "compares the fields of the JSON results of both versions"
)
SCHEMA_INCOMPATIBLE = Risk(
    "the output schema isn't compatible: {changes}. {topic} has no known consumers"
)
SCHEMA_RISKS = (SCHEMA_UNKNOWN, SCHEMA_INCOMPATIBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSchema:
    """What `consumers` of `topic` can't read in the records that go to `shadow` until the switch.

    `issues` is None if a schema isn't known, and `error` says why one can't be read.
    """

    topic: str
    shadow: str
    consumers: Sequence[str]
    issues: tuple[str, ...] | None = None
    error: str = ""

    def blockers(self) -> Iterator[str]:
        """Yield why the new version can't write to the topic."""
        if self.error:
            yield (f"the schemas of {self.topic} and {self.shadow} can't be compared: {self.error}")
        elif self.issues and self.consumers:
            yield (
                f"the output schema isn't compatible: {'; '.join(self.issues)}. Consumers of "
                f"{self.topic}: {name_list(self.consumers)}. Keep these fields, or write to a new "
                "topic"
            )

    def risks(self) -> Iterator[str]:
        """Yield what isn't known, and what changes although nobody is known to read it."""
        if self.error:
            return
        if self.issues is None:
            yield SCHEMA_UNKNOWN(shadow_topic=self.shadow)
        elif self.issues and not self.consumers:
            yield SCHEMA_INCOMPATIBLE(changes="; ".join(self.issues), topic=self.topic)


def output_schema(
    inspector: Inspector,
    topic: str,
    shadow: str,
    consumers: Sequence[str],
    new: str | Sink,
    old: Sink | None = None,
) -> OutputSchema:
    """Compare the schemas; `new` and `old` are those of `schema_issues`."""
    found = OutputSchema(topic=topic, shadow=shadow, consumers=consumers)
    try:
        return replace(found, issues=inspector.evidence.schema_issues(topic, new, old))
    except SchemaError as error:
        return replace(found, error=str(error))
