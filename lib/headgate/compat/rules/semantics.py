"""Rules about settings that change what expressions mean; no checkpoint records them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.compat.match import OperatorPair
from headgate.compat.report import Outcome, StateEffect, Where
from headgate.compat.rule import Comparison, Verdict, rule
from headgate.compat.settings import differing

_MEANING = (
    "spark.sql.legacy.",
    "spark.sql.caseSensitive",
    "spark.sql.decimalOperations.",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.collation",
    "spark.sql.timestampType",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enforceReservedKeywords",
    "spark.sql.parser.",
    "spark.sql.function.concat",
    "spark.sql.function.elt",
    "spark.sql.readSideCharPadding",
    "spark.sql.charAsVarchar",
)
"""How the names of such settings begin."""
_CALL = re.compile(r"\w\(")


def changes_meaning(key: str) -> bool:
    """Say whether a setting decides what an expression yields."""
    return key.startswith(_MEANING)


@rule("CFG011", "documentation of the settings; not measured")
def meaning_of_expressions(c: Comparison) -> Iterator[Verdict]:
    """New rows are computed under the new setting, and state keeps what the old one gave.

    A key that comes out otherwise for the same row is another key.
    """
    for key, (old, new) in differing(c).items():
        if not changes_meaning(key):
            continue
        hit = next((p for p in c.operators if _is_computed(p)), None)
        yield Verdict(
            outcome=Outcome.UNKNOWN if hit else Outcome.RESUMES,
            state_effect=None if hit else StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
            where=hit.where if hit else Where(),
            before=old,
            after=new,
            because=f"{key} changed" + (", and a key is computed." if hit else "."),
            question="Does the setting change what the keys' expressions give for the same row?"
            if hit
            else None,
            remedy="Leave the setting as it was." if hit else "",
        )


def _is_computed(pair: OperatorPair) -> bool:
    """Say whether a key of both versions is more than a column or a window over one."""
    keys = pair.before.keys or () if pair.before and pair.after else ()
    return any(_CALL.search(k) and not k.startswith(("window(", "session_window(")) for k in keys)
