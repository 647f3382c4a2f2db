"""Rules about evidence that does not suffice, and a session's own refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.compat.report import Outcome, Rollback
from headgate.compat.rule import Comparison, Verdict, rule
from headgate.model.version import Version

_CONDITION = re.compile(r"\[(?P<name>[A-Z_][A-Z0-9_]*)[.\]]")


@rule("EVD001", "the evidence itself")
def session_refused(c: Comparison) -> Iterator[Verdict]:
    """The session that captured the new version could not build it."""
    error = c.after.capture_error
    if not error:
        return
    match = _CONDITION.search(error)
    yield Verdict(
        outcome=Outcome.REFUSES,
        after=error,
        because=f"Spark said: {error.splitlines()[0]}",
        error_class=match["name"] if match else None,
        remedy="Correct the query.",
        scenario="offline-upgrade",
    )


@rule("EVD002", "the evidence itself")
def nothing_to_judge(c: Comparison) -> Iterator[Verdict]:
    """A verdict needs a plan or a checkpoint of each version."""
    for side, version in (("old", c.before), ("new", c.after)):
        if _is_empty(version) and not version.capture_error:
            yield Verdict(
                outcome=Outcome.UNKNOWN,
                because=f"The evidence of the {side} version holds no plan.",
                question=f"What is the plan of the {side} version?",
                rollback=Rollback.UNKNOWN,
                remedy="Add its explain text, its plan as JSON, or module:function.",
            )


def _is_empty(version: Version) -> bool:
    return not version.topology.nodes and version.stateful is None and version.sources is None
