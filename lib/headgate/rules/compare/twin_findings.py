"""What a twin run adds to a report: the engine's own outcome, and where the rules disagree.

They are not run by `compare`: a twin run makes them of what both versions did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from headgate.model.twin import Counterexample, TwinVerdict
from headgate.model.version import OperatorKind, Version
from headgate.rules.compare.rollback import worst_rollback
from headgate.rules.compare.twin_lowers import Lowered, answer_by_start, is_one_query, lower
from headgate.rules.core.report import Finding, Location, Outcome, Report, Rollback, StateEffect
from headgate.rules.core.rule import NamedRule, Outcomes, RuleResult, Texts, declared

_SOURCE = "the twin run of this comparison: both versions on the same generated rows"


@dataclass(frozen=True, slots=True)
class TwinRule(NamedRule):
    """A rule whose check gets the verdict of a twin run and the node that it is about."""

    def of(self, verdict: TwinVerdict, location: Location) -> Finding:
        """Return the finding."""
        result: RuleResult = self.check(verdict, location)
        return result.finding(self.code, self.why, self.source)


def twin_rule(
    code: str, *, outcomes: Outcomes, **texts: Texts
) -> Callable[[Callable[..., RuleResult]], TwinRule]:
    """Turn a check into a `TwinRule`; `texts` are `remedies` and `questions`."""
    return declared(TwinRule, code, _SOURCE, outcomes=outcomes, **texts)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A finding of the rules with an outcome that the engine did not show.

    `is_replaced`: it is of a source or a sink, which a twin run replaces.
    """

    rule: str
    rules: Outcome
    engine: Outcome
    is_replaced: bool = False


@dataclass(frozen=True, slots=True)
class WithTwin:
    """A report with the engine's outcome, what it contradicts, and what it lowered."""

    report: Report
    disagreements: tuple[Disagreement, ...] = ()
    lowered: tuple[Lowered, ...] = ()


_NEW_CHECKPOINT = (
    "Keep the old query, or start the new version with a new checkpoint and reprocess the input."
)


@twin_rule("TWN001", outcomes=(Outcome.REFUSES,), remedies=(_NEW_CHECKPOINT,))
def engine_fails_to_start(verdict: TwinVerdict, location: Location) -> RuleResult:
    """Spark failed to start the new version on a checkpoint that the old version wrote.

    Both versions ran on generated rows, in scratch folders. Expect the same error on the old
    version's real checkpoint.
    """
    refusal = verdict.refusal
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=location,
        because=sentence(f"{verdict.why}: {refusal.message}" if refusal else verdict.why),
        error_class=refusal.error_class if refusal else None,
        rollback=Rollback.UNKNOWN,
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


@twin_rule("TWN002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_NEW_CHECKPOINT,))
def engine_writes_wrong_results(verdict: TwinVerdict, location: Location) -> RuleResult:
    """The old version's state means something else to the new version.

    Both versions ran on the same generated rows. The new version starts with the state in the old
    version's checkpoint. But this state differs from the state that the new version builds itself
    from the same rows. So the new version writes wrong results without an error.
    """
    example = verdict.counterexample
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        location=location,
        before=example.before if example else None,
        after=example.after if example else None,
        because=f"{sentence(verdict.why)}{f' {example_words(example)}' if example else ''}",
        rollback=Rollback.UNKNOWN,
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


_CHECK_BY_HAND = "Rehearse with a copy of the real checkpoint: `headgate rehearse --checkpoint`."
_DECIDES = "The generated rows don't answer this question: {question}"


@twin_rule("TWN003", outcomes=(Outcome.UNKNOWN,), remedies=(_CHECK_BY_HAND,), questions=(_DECIDES,))
def twin_run_undecided(verdict: TwinVerdict, location: Location) -> RuleResult:
    """The generated rows don't show what the new version does with the old state.

    The run doesn't show that the state is correct. With the old state, the new version may still
    write wrong results on real records, for example if only rare values show the difference.
    """
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        because=sentence(verdict.why),
        question=_DECIDES.format(question=verdict.question),
        remedy=_CHECK_BY_HAND,
    )


RULES: tuple[TwinRule, ...] = (
    engine_fails_to_start,
    engine_writes_wrong_results,
    twin_run_undecided,
)
SPARK_RULES = {
    "refuses": engine_fails_to_start,
    "silently_wrong": engine_writes_wrong_results,
    "unknown": twin_run_undecided,
}
_OUTCOMES = {o.word: o for o in Outcome}


def with_twin(
    report: Report,
    verdict: TwinVerdict,
    before: Version,
    after: Version,
    rules: Mapping[str, TwinRule] = SPARK_RULES,
    *,
    again: TwinVerdict | None = None,
    may_lower: bool = True,
) -> WithTwin:
    """Return the report with the engine's outcome, and the rules' findings that it contradicts.

    A twin raises the outcome. It lowers a finding only if `again`, a run on other rows, shows the
    same (see `can_lower`): what rows did not reach, no engine has shown. Or if Spark's optimizer
    makes one query of both versions. A question about the state's schema is answered by any start
    on the old version's checkpoint, as Spark compares both schemas before the first row.
    If values only differ because one function got another expression, which the rules say of the
    operator, the outcome stays theirs: history mixes both. It stays theirs, too, if a join's
    condition changed and only outputs differ, and if both versions did the same with rows that are
    too few to say so. `rules` are those of the engine, by the
    verdict's outcome. `may_lower` is False if the run had other settings than the old version.
    """
    started: tuple[Lowered, ...] = ()
    if may_lower:
        report, started = answer_by_start(report, verdict, (before, after))
    engine = _OUTCOMES[verdict.outcome]
    replaced = {x.node for v in (before, after) for x in (*(v.sources or ()), v.sink) if x}
    disagreements = tuple(_disagreements(report, engine, replaced - {None}))
    is_theirs = (_is_mixed(report) and verdict.is_scaled) or _is_mixed_join(report, verdict, before)
    if is_theirs or (verdict.is_thin and report.outcome is not Outcome.UNKNOWN):
        return WithTwin(report, disagreements, started)
    if may_lower and (again is not None or is_one_query(verdict)):
        report, lowered = lower(report, verdict, again or verdict, (before, after))
        return WithTwin(report, disagreements, (*started, *lowered))
    rule = rules.get(verdict.outcome)
    if rule is None or _is_said(report, verdict):
        return WithTwin(report, disagreements, started)
    finding = rule.of(verdict, location_of(verdict, before, after))
    if finding.outcome is Outcome.SILENTLY_WRONG:
        finding = replace(finding, rollback=_rollback(report, finding.location))
    return WithTwin(replace(report, findings=(finding, *report.findings)), disagreements, started)


def _rollback(report: Report, location: Location) -> Rollback:
    """Return what the rules say of this node; a twin run never starts the old version again.

    Of 221 recorded cases with wrong results, the old version started again in all but two. So
    without a finding on the same node, wrong results don't tell.
    """
    nodes = {location.before, location.after} - {None}
    found = (
        f.rollback
        for f in report.findings
        if nodes & {f.location.before, f.location.after}
        and (f.outcome is Outcome.SILENTLY_WRONG or f.rollback is not Rollback.SAFE)
        and f.rollback is not Rollback.UNKNOWN
    )
    return worst_rollback(found, default=Rollback.UNKNOWN)


def worst_of(
    verdict: TwinVerdict, again: TwinVerdict | None
) -> tuple[TwinVerdict, TwinVerdict | None]:
    """Return the verdict of two runs: the second one's if only that one shows a failure.

    Then nothing is left that could lower a finding.
    """
    if again is not None and _OUTCOMES[again.outcome] > Outcome.UNKNOWN:
        return again, None
    return verdict, again


def _is_mixed(report: Report) -> bool:
    return any(f.state_effect is StateEffect.MIXED for f in report.findings)


def _is_mixed_join(report: Report, verdict: TwinVerdict, before: Version) -> bool:
    """Whether outputs differ, not states, and the rules say that a join's results are mixed.

    A stored row that matched under the old condition counts as matched: an outer join does not send
    it again without a match. And rows that came out before do not meet the new condition.
    """
    example = verdict.counterexample
    if verdict.outcome != "silently_wrong" or example is None or example.kind != "output":
        return False
    joins = {o.node for o in before.stateful or () if o.kind is OperatorKind.STREAM_JOIN}
    mixed = {f.location.before for f in report.findings if f.state_effect is StateEffect.MIXED}
    return bool(joins & mixed - {None})


def _is_said(report: Report, verdict: TwinVerdict) -> bool:
    """Whether the rules name the same refusal: then they also say what to do."""
    refusal = verdict.refusal
    return refusal is not None and any(
        f.outcome is Outcome.REFUSES and f.error_class == refusal.error_class
        for f in report.findings
    )


def _disagreements(
    report: Report, engine: Outcome, replaced: set[str | None]
) -> Iterator[Disagreement]:
    if engine is Outcome.UNKNOWN:
        return
    if engine > report.outcome:
        yield Disagreement("", report.outcome, engine)
    for finding in report.findings:
        if finding.outcome > max(engine, Outcome.UNKNOWN):
            nodes = {finding.location.before, finding.location.after} - {None}
            is_replaced = bool(nodes) and nodes <= replaced
            yield Disagreement(finding.rule, finding.outcome, engine, is_replaced)


def location_of(verdict: TwinVerdict, before: Version, after: Version) -> Location:
    """Return the nodes of the counterexample's operator or output; without one, of the sinks."""
    example = verdict.counterexample
    if example is not None and example.topic is not None:
        return Location(*(_sink_of(v, example.topic) for v in (before, after)))
    if example is None or example.operator_id is None:
        return Location.between(before.sink, after.sink)
    return Location(*(node_of(v, example.operator_id) for v in (before, after)))


def _sink_of(version: Version, topic: str) -> str | None:
    """Return the node that writes to a topic of Kafka Streams."""
    sinks = version.streams.sinks if version.streams else ()
    return next((s.node for s in sinks if s.topic == topic), None)


def node_of(version: Version, operator_id: int) -> str | None:
    """Return the node of a stateful operator, None if no evidence names it."""
    found = (o.node for o in version.stateful or () if o.operator_id == operator_id)
    return next(found, None)


def example_words(example: Counterexample) -> str:
    """Return a counterexample in one sentence; one of Kafka Streams has the topic in its key."""
    if example.topic is not None:
        return (
            f"Example: for key {example.key.get('key')}, the new version writes "
            f"{_written(example.before)} to {example.topic} after the restart, but "
            f"{_written(example.after)} if it starts from scratch."
        )
    if example.kind == "output":
        return (
            "Example: with the old version's checkpoint, the new version writes "
            f"{_written(example.before, 'row')}. With an empty checkpoint, it writes "
            f"{_written(example.after, 'row')}."
        )
    key = ", ".join(f"{name}={value!r}" for name, value in example.key.items())
    of_key = f"for key {key}, " if key else ""
    column = f" in column {example.columns[0]}" if example.columns[0] else ""
    stored = "no value" if example.before is None else repr(example.before)
    return (
        f"Example: {of_key}the old version stored {stored}{column}, but the new version "
        f"{_would_have(example)}."
    )


def _written(value: object, kind: str = "record") -> str:
    return f"no {kind}" if value is None else str(value)


def _would_have(example: Counterexample) -> str:
    if example.after is None:
        return "has no row for this key" if example.key else "has no row"
    same = example.columns[0] == example.columns[1] or not example.columns[1]
    return f"stores {example.after!r}" + ("" if same else f" in column {example.columns[1]}")


def sentence(text: str) -> str:
    """Return a reason as a sentence: with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip(' .:')}."
