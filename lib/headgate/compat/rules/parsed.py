"""Rules about the schemas that a query takes its sources' records apart with."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.parsing import changed_reading, layout_of, shown_schema
from headgate.compat.report import Outcome, Rollback, StateEffect, Where
from headgate.compat.rule import Comparison, Verdict, rule
from headgate.model.output import Parsed

_AVRO = "https://spark.apache.org/docs/latest/sql-data-sources-avro.html#to_avro-and-from_avro"
_FROM_JSON = "https://spark.apache.org/docs/latest/api/sql/#from_json"


@rule("RDS001", _AVRO)
def reading_schema(c: Comparison) -> Iterator[Verdict]:
    """from_avro and from_protobuf take every record for one that was written with the schema they
    are given: records of another one fail, or their bytes become other fields.

    The offsets say nothing of the schema of what is still to be read.
    """
    for was, now in changed_reading(c.before, c.after):
        if now.function == "from_json" or not _is_other(was, now):
            continue
        yield Verdict(
            outcome=Outcome.UNKNOWN,
            where=_where(c, now),
            before=shown_schema(was.declared) or was.message,
            after=shown_schema(now.declared) or now.message,
            because=f"The schema of {now.function} changed.",
            question="Are all records that are still to be read written with the new schema?",
            rollback=Rollback.SAFE,
            remedy="Configure the schema registry, so that it is asked, or let the old version"
            " read to the end of what was written with the old schema.",
        )


@rule("RDS005", _FROM_JSON)
def json_schema_read(c: Comparison) -> Iterator[Verdict]:
    """from_json gives null for a field that a record does not have, or has in another type.

    The query goes on either way.
    """
    for was, now in changed_reading(c.before, c.after):
        if now.function != "from_json" or was.schema is None or now.schema is None:
            continue
        yield Verdict(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            where=_where(c, now),
            before=was.schema.describe(),
            after=now.schema.describe(),
            because="from_json parses other fields, or others' types.",
            remedy="Configure the schema registry, so that it is asked whether the records have"
            " them.",
        )


def _is_other(was: Parsed, now: Parsed) -> bool:
    """Whether bytes are taken for something else; unreadable schemas are."""
    if was.declared is None or now.declared is None:
        return was.message != now.message or was.declared != now.declared
    return layout_of(was.declared) != layout_of(now.declared) or was.message != now.message


def _where(c: Comparison, now: Parsed) -> Where:
    place = next((int(n[1:].partition(".")[0]) for n in now.columns), None)
    nodes = [
        next((s.node for s in v.sources or () if s.position == place), None)
        for v in (c.before, c.after)
    ]
    return Where(*nodes)
