"""Rules about texts that are compared otherwise than byte by byte."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.version import StatefulOperator
from headgate.rules.core.report import Outcome
from headgate.rules.core.rule import Comparison, Verdict, rule

_BY_BYTES = frozenset({"utf8_binary", "unicode"})
_NAMED = re.compile(r"^collate\(.*, (?P<name>\w+)\)$|^string collate (?P<type>\w+)$", re.IGNORECASE)


@rule("STA005")
def key_of_a_collation(c: Comparison) -> Iterator[Verdict]:
    """State is found by the bytes of its key.

    Under a collation that takes different bytes for one value Spark refuses to keep state by it.
    """
    for pair in c.operators:
        if pair.after is None:
            continue
        found = _collation(pair.after)
        if found and (pair.before is None or _collation(pair.before) != found):
            yield Verdict(
                outcome=Outcome.REFUSES,
                where=pair.where,
                before=list(pair.before.keys or ()) if pair.before else None,
                after=list(pair.after.keys or ()),
                because=f"A key is compared by {found}.",
                error_class="STATE_STORE_UNSUPPORTED_OPERATION_BINARY_INEQUALITY",
                remedy="Group by what the collation makes equal, such as lower(column), with a new "
                "checkpoint.",
            )


def _collation(operator: StatefulOperator) -> str | None:
    """Return the first collation of a key that bytes don't decide; None where there is none."""
    schemas = [s.key_schema for s in operator.stores if s.key_schema]
    types = [f.type for s in schemas for f in s.fields if isinstance(f.type, str)]
    for text in (*(operator.keys or ()), *(operator.right_keys or ()), *types):
        match = _NAMED.match(text)
        name = (match["name"] or match["type"]) if match else None
        if name and name.lower() not in _BY_BYTES:
            return name
    return None
