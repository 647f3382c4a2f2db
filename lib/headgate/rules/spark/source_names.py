"""Rules about names of sources: where they count, and where they only seem to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from headgate.model.version import Source, Version
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import (
    EVOLUTION,
    describe,
    family,
    is_file,
    location,
    names_count,
    names_known,
    names_pinned,
    names_unclear,
)
from headgate.rules.spark.facts.source_pairs import judged_pairs


@rule("SRC003", outcomes=(Outcome.RESUMES,))
def named_sources_changed(c: Comparison) -> Iterator[RuleResult]:
    """You can reorder, add and remove named sources: Spark finds offsets by name.

    A new source starts at its starting offsets. A source that you add again resumes from its stored
    offsets.
    """
    if not names_count(c.before, c.after):
        return
    old, new = [s.name for s in c.before.sources or ()], [s.name for s in c.after.sources or ()]
    if old == new or _renamed(c):
        return
    yield RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        before=old,
        after=new,
    )


_KEEP_THE_NAME = "Keep the name of the source."


@rule("SRC004", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_NAME,))
def named_source_renamed(c: Comparison) -> Iterator[RuleResult]:
    """A source with a new name is a new source: Spark reads it from its starting offsets.

    The stored offsets of the old name aren't used. If the new source starts earlier, its records
    count twice in state and results. If it starts later, unread records are lost. Spark reports no
    error.
    """
    if not names_count(c.before, c.after):
        return
    for old, new in _renamed(c):
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.MIXED,
            location=SourcePair(old, new).location,
            before=old.name,
            after=new.name,
            because=(
                "Spark doesn't use the source's stored offsets, so it reprocesses or skips records."
            ),
            remedy=_KEEP_THE_NAME,
        )


_LEAVE_NAMES_AS = "Don't add or remove names of sources, or start with a new checkpoint."
_ADD_THE_CHECKPOINT = (
    "Old version: add its checkpoint to the evidence. New version: add the output of `headgate "
    "capture module:function`."
)
_GIVE_THE_SOURCE = "Give the source its old name."
_WHICH_NAMES_DO = "Which names do the sources of both versions have?"


@rule(
    "SRC005",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN, Outcome.NO_EFFECT),
    remedies=(_LEAVE_NAMES_AS, _ADD_THE_CHECKPOINT, _GIVE_THE_SOURCE),
    questions=(_WHICH_NAMES_DO,),
)
def source_name_added_or_removed(c: Comparison) -> Iterator[RuleResult]:
    """The first run with a checkpoint decides whether sources have names. You can't change this
    later.

    With names, a file source uses the log `sources/<name>` instead of `sources/<position>`.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        if bool(pair.before.name) == bool(pair.after.name):
            continue
        if not (names_known(c.before) and names_known(c.after)):
            yield _names_not_shown(pair)
            continue
        if names_pinned(c.before) and not pair.after.name:
            yield _name_missing(pair)
            continue
        files = is_file(pair.before) and is_file(pair.after)
        yield RuleResult(
            outcome=Outcome.REFUSES if files else Outcome.NO_EFFECT,
            location=pair.location,
            before=pair.before.name,
            after=pair.after.name,
            because="Spark doesn't find the source's log under its new path."
            if files
            else "With this checkpoint, Spark ignores source names and finds offsets by position.",
            error_class="IllegalStateException" if files else None,
            remedy=_LEAVE_NAMES_AS,
            scenario="from-scratch",
        )


_ADD_THE_OUTPUT = "Add the output of `headgate capture module:function` to the evidence."
_WHICH_NAMES_DO_THE_SOURCES = "Which names do the sources of the new version have?"


@rule(
    "SRC011",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_THE_OUTPUT,),
    questions=(_WHICH_NAMES_DO_THE_SOURCES,),
)
def names_not_known(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint stores offsets by source name, but the new version's names are unknown.

    If a source's name changed, Spark doesn't find its offsets.
    """
    if names_unclear(c.before, c.after):
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=[s.name for s in c.before.sources or ()],
            question=_WHICH_NAMES_DO_THE_SOURCES,
            rollback=Rollback.UNKNOWN,
            remedy=_ADD_THE_OUTPUT,
        )


_GIVE_EACH_SOURCE = "Give each source its own name."


@rule("SRC006", outcomes=(Outcome.REFUSES,), remedies=(_GIVE_EACH_SOURCE,))
def duplicate_names(c: Comparison) -> Iterator[RuleResult]:
    """Spark's analysis fails if two sources have the same name.

    Spark finds the stored offsets of each source by its name. With the same name twice, it can't
    assign the offsets. The new version fails to start, and the pipeline stays down.
    """
    names = Counter(s.name for s in c.after.sources or () if s.name)
    double = sorted(n for n, count in names.items() if count > 1)
    if double:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            before=[s.name for s in c.before.sources or ()],
            after=[s.name for s in c.after.sources or ()],
            because=f"Several sources have the same name: {', '.join(double)}.",
            error_class="STREAMING_QUERY_EVOLUTION_ERROR",
            remedy=_GIVE_EACH_SOURCE,
            scenario="offline-upgrade",
        )


_KEEP_THE_ORDER = "Keep the order of the sources."
_KEEP_THE_ORDER_NAMES = (
    "Keep the order of the sources. Spark finds sources by name only if "
    f"spark.sql.streaming.offsetLog.formatVersion=2 and {EVOLUTION}=true were set before the "
    "first run."
)
_ADD_THE_CHECKPOINT_TO_THE_EVIDENCE = (
    "Add the checkpoint to the evidence, or keep the order of the sources."
)
_DO_THE_OFFSETS = (
    "Is `logOffset` in the offset log the same for all named file sources? If not, Spark may fail."
)


@rule(
    "SRC007",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_THE_ORDER, _KEEP_THE_ORDER_NAMES, _ADD_THE_CHECKPOINT_TO_THE_EVIDENCE),
    questions=(_DO_THE_OFFSETS,),
)
def named_sources_found_by_position(c: Comparison) -> Iterator[RuleResult]:
    """Without offset log v2, a file source's name changes only the path of the source's log. Spark
    still finds the source's offset by position.

    If sources change their order, Spark looks for one source's batch in another source's log.
    """
    if names_count(c.before, c.after):
        return
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        old, new = pair.before, pair.after
        if old.name and new.name and old.name != new.name and is_file(old) and is_file(new):
            yield _shifted(pair, _named(c.before, new.name))


_SWITCH_SOURCE_EVOLUTION = (
    f"Set {EVOLUTION}=false, or start with a new checkpoint and named sources."
)


@rule("SRC009", outcomes=(Outcome.REFUSES,), remedies=(_SWITCH_SOURCE_EVOLUTION,))
def source_evolution_without_names(c: Comparison) -> Iterator[RuleResult]:
    """If the session sets source evolution, every source needs a name.

    The value in the offset log doesn't matter.
    """
    unnamed = [describe(s) for s in c.after.sources or () if not s.name]
    on = (c.after.settings.get(EVOLUTION) or "").lower() == "true"
    if on and unnamed and names_known(c.after):
        yield RuleResult(
            outcome=Outcome.REFUSES,
            before=c.before.settings.get(EVOLUTION),
            after="true",
            because=f"The new version sets {EVOLUTION}=true, but {unnamed[0]} has no name.",
            error_class="STREAMING_QUERY_EVOLUTION_ERROR",
            remedy=_SWITCH_SOURCE_EVOLUTION,
            scenario="offline-upgrade",
        )


def _renamed(c: Comparison) -> list[tuple[Source, Source]]:
    """Pair a name that is gone with a new one that reads the same."""
    gone = [p.before for p in c.sources if p.before and p.after is None]
    come = [p.after for p in c.sources if p.after and p.before is None]
    pairs = [(p.before, p.after) for p in c.sources if p.before and p.after]
    declared = [(b, a) for b, a in pairs if b.name != a.name]
    return declared + [(b, a) for b in gone for a in come if _reads(b) == _reads(a)]


def _reads(source: Source) -> tuple[object, ...]:
    return family(source), source.topics, source.pattern, location(source)


def _named(version: Version, name: str | None) -> Source | None:
    return next((s for s in version.sources or () if s.name == name), None)


def _names_not_shown(pair: SourcePair) -> RuleResult:
    assert pair.before and pair.after
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=pair.before.name,
        after=pair.after.name,
        because="The query plan of a started query doesn't show the names of its sources.",
        question=_WHICH_NAMES_DO,
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_THE_CHECKPOINT,
    )


def _name_missing(pair: SourcePair) -> RuleResult:
    """Judge a restart with source evolution if no analysis has given the source a name."""
    assert pair.before and pair.after
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        before=pair.before.name,
        after=None,
        because=f"The offset log has {EVOLUTION}=true, but the source no longer has a name.",
        error_class="AssertionError",
        remedy=_GIVE_THE_SOURCE,
    )


def _shifted(pair: SourcePair, own: Source | None) -> RuleResult:
    """Judge a file source that resumes at the offset of another position."""
    assert pair.before and pair.after
    names = (pair.before.name, pair.after.name)
    if own is None or (own.offsets is not None and own.offsets != pair.before.offsets):
        return RuleResult(
            outcome=Outcome.REFUSES,
            location=pair.location,
            before=names[0],
            after=names[1],
            because=("The offset log refers to a batch that the source's log doesn't have."),
            error_class="IllegalStateException",
            remedy=_KEEP_THE_ORDER_NAMES,
        )
    if own.offsets is None:
        return RuleResult(
            outcome=Outcome.UNKNOWN,
            location=pair.location,
            before=names[0],
            after=names[1],
            question=_DO_THE_OFFSETS,
            rollback=Rollback.UNKNOWN,
            remedy=_ADD_THE_CHECKPOINT_TO_THE_EVIDENCE,
        )
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        location=pair.location,
        before=names[0],
        after=names[1],
        because=(
            "The source gets the offset entry of another source, because Spark finds offsets by "
            "position. Both entries are equal by coincidence, so this restart doesn't fail."
        ),
        remedy=_KEEP_THE_ORDER,
    )
