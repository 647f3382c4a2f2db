"""Find out whether a topic's consumers can read records with another topic's schema."""

from __future__ import annotations

from headgate.errors import NotFoundError
from headgate.model.topic_schema import Effect, Mode, SchemaFinding
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.compare import compare
from headgate.usecases.context import Context
from headgate.usecases.evidence.topic_schemas import topic_schemas


def schema_issues(context: Context, topic: str, new: str) -> tuple[str, ...] | None:
    """Return a sentence for each change with which consumers of `topic` fail.

    The consumers have the newest schema of `topic`; the records have the newest schema of `new`.
    None if a schema is unknown. Raises SchemaError, and UnreachableError as `topic_schemas`.
    """
    try:
        versions = [topic_schemas(context, name).versions for name in (topic, new)]
    except NotFoundError:
        return None
    before, after = (read_schema(found[-1].text) for found in versions)
    report = compare([before], after, Mode.FORWARD)
    severe = (Effect.INCOMPATIBLE, Effect.SILENTLY_WRONG)
    return tuple(_sentence(f) for f in report.findings if f.effect in severe)


def _sentence(found: SchemaFinding) -> str:
    """Name field, rule and cause; the rule's page has the rest."""
    cause = found.why.partition(". ")[0].rstrip(".")
    return f"{found.path or 'the record'} ({found.rule}): {cause}"
