"""Rules about the set of sources, their order and their kind."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.match_operators import logged_sources
from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import (
    describe,
    family,
    is_located,
    names_count,
    names_unclear,
)
from headgate.rules.spark.facts.source_pairs import judged_pairs

_NEW = "Start with a new checkpoint and explicit starting offsets."


@rule("SRC001", outcomes=(Outcome.REFUSES,), remedies=(_NEW,))
def number_of_sources(c: Comparison) -> Iterator[RuleResult]:
    """The offset log has one line per source, by position. Spark fails if the number differs.

    You can add or remove sources only if the first run already used source names, source evolution
    and offset log v2.
    """
    if c.before.sources is None or c.after.sources is None or names_count(c.before, c.after):
        return
    old, new = logged_sources(c.before), logged_sources(c.after)
    if len(old) == len(new) or _may_be_read_twice(c):
        return
    if names_unclear(c.before, c.after):
        return
    lone = next((p for p in c.sources if p.before is None or p.after is None), c.sources[0])
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=lone.location,
        before=[describe(s) for s in old],
        after=[describe(s) for s in new],
        because=(
            f"Number of sources: {len(old)} in the checkpoint, {len(new)} in the new version."
        ),
        error_class="AssertionError",
        remedy=_NEW,
        scenario="from-point",
    )


def _may_be_read_twice(c: Comparison) -> bool:
    """Say whether a side's sources come only from progress, which may name one for several."""
    sides = (c.before.sources or (), c.after.sources or ())
    open_ = [any(s.log_places is None for s in side) for side in sides]
    few, many = sorted(
        (len(logged_sources(v)), o) for v, o in zip((c.before, c.after), open_, strict=True)
    )
    return few[1] and few[0] < many[0]


@rule("SRC002", outcomes=(Outcome.REFUSES,), remedies=(_NEW,))
def kind_of_source(c: Comparison) -> Iterator[RuleResult]:
    """Each kind of source writes its own JSON format into the offset log, and can't read another
    kind's format.

    All file sources use the same JSON format, so you can change csv to json.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        old, new = family(pair.before), family(pair.after)
        if old and new and old != new:
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                before=describe(pair.before),
                after=describe(pair.after),
                because=f"The type of the source changed from {old} to {new}.",
                error_class=_CANNOT_READ_LOG.get((old, new))
                or _CANNOT_PARSE.get(new, "IllegalStateException"),
                remedy=_NEW,
                scenario="from-scratch",
            )


# What each kind of source raises on the log of another kind, 4.2.0.
_CANNOT_PARSE = {
    "kafka": "IllegalArgumentException",
    "rate": "NumberFormatException",
    "file": "MappingException",
}
# The log of a Kafka source has a byte before its version, and a file source does not get past it.
_CANNOT_READ_LOG = {("kafka", "file"): "MALFORMED_LOG_FILE"}


_ADD_A_PLAN = (
    "Add a query plan or the output of `headgate capture module:function` to the evidence."
)
_WHAT_DOES_SOURCE = "What does source {position} of the {side} version read?"


@rule(
    "SRC010", outcomes=(Outcome.UNKNOWN,), remedies=(_ADD_A_PLAN,), questions=(_WHAT_DOES_SOURCE,)
)
def source_not_known(c: Comparison) -> Iterator[RuleResult]:
    """Offsets are valid only if the source still reads the same topics or path.

    With another topic or path, the query skips records or processes records twice. Spark fails in
    some of these cases, and continues without an error in others. Headgate can't exclude either
    without the topic or path.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        for side, source in (("old", pair.before), ("new", pair.after)):
            if not is_located(source):
                yield RuleResult(
                    outcome=Outcome.UNKNOWN,
                    location=pair.location,
                    because=(
                        f"The evidence doesn't show what source {source.position} of the {side} "
                        "version reads."
                    ),
                    question=_WHAT_DOES_SOURCE.format(position=source.position, side=side),
                    rollback=Rollback.UNKNOWN,
                    remedy=_ADD_A_PLAN,
                )
                break


_WHICH_SOURCES_IN_WHICH = "Which sources, in which order, does the {side} version read?"
_DOES_THE_QUERY = "Does the query read one of its sources more than once?"


@rule(
    "SRC008",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_A_PLAN,),
    questions=(_WHICH_SOURCES_IN_WHICH, _DOES_THE_QUERY),
)
def sources_not_known(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds the offsets of a source by the source's position.

    Without the list of sources, Headgate can't match offsets and sources.
    """
    if c.before.sources is not None and c.after.sources is not None:
        if not names_count(c.before, c.after) and _may_be_read_twice(c):
            yield _times_not_known()
        return
    side = "old" if c.before.sources is None else "new"
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        because=f"The evidence doesn't show what the {side} version reads.",
        question=_WHICH_SOURCES_IN_WHICH.format(side=side),
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_A_PLAN,
    )


def _times_not_known() -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        because=(
            "A progress report names a source only once, even if the query reads this source "
            "several times. The offset log has an entry for each time."
        ),
        question=_DOES_THE_QUERY,
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_A_PLAN,
    )
