"""What a twin run adds to a report: the engine's own outcome, and where the rules disagree.

They are not run by `compare`: a twin run makes them of what both versions did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from headgate.model.twin import Counterexample, TwinVerdict
from headgate.model.version import Version
from headgate.rules.core.report import Finding, Location, Outcome, Report, Rollback, StateEffect
from headgate.rules.core.rule import NamedRule, RuleResult, Texts, declared

_SOURCE = "the twin run of this comparison: both versions on the same generated rows"


@dataclass(frozen=True, slots=True)
class TwinRule(NamedRule):
    """A rule whose check gets the verdict of a twin run and the node that it is about."""

    def of(self, verdict: TwinVerdict, location: Location) -> Finding:
        """Return the finding."""
        result: RuleResult = self.check(verdict, location)
        return result.finding(self.code, self.why, self.source)


def twin_rule(code: str, **texts: Texts) -> Callable[[Callable[..., RuleResult]], TwinRule]:
    """Turn a check into a `TwinRule`; `texts` are `remedies` and `questions`."""
    return declared(TwinRule, code, _SOURCE, **texts)


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
class Lowered:
    """A finding that runs refuted or answered: the rule, its own outcome, and the runs' seeds."""

    rule: str
    rules: Outcome
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WithTwin:
    """A report with the engine's outcome, what it contradicts, and what it lowered."""

    report: Report
    disagreements: tuple[Disagreement, ...] = ()
    lowered: tuple[Lowered, ...] = ()


_NEW_CHECKPOINT = (
    "Keep the old query, or start the new version with a new checkpoint and reprocess the input."
)


@twin_rule("TWN001", remedies=(_NEW_CHECKPOINT,))
def engine_fails_to_start(verdict: TwinVerdict, location: Location) -> RuleResult:
    """Spark failed to start the new version on a checkpoint that the old version wrote.

    Both versions ran on generated rows, in scratch folders. Expect the same error on the old
    version's real checkpoint.
    """
    refusal = verdict.refusal
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=location,
        because=f"{verdict.why}: {refusal.message}." if refusal else f"{verdict.why}.",
        error_class=refusal.error_class if refusal else None,
        rollback=Rollback.UNKNOWN,
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


@twin_rule("TWN002", remedies=(_NEW_CHECKPOINT,))
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
        rollback=Rollback.LOST,
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


_CHECK_BY_HAND = "Rehearse with a copy of the real checkpoint: `headgate rehearse --checkpoint`."
_DECIDES = "The generated rows don't answer this question: {question}"


@twin_rule("TWN003", remedies=(_CHECK_BY_HAND,), questions=(_DECIDES,))
def twin_run_undecided(verdict: TwinVerdict, location: Location) -> RuleResult:
    """The generated rows don't show what the new version does with the old state."""
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
) -> WithTwin:
    """Return the report with the engine's outcome, and the rules' findings that it contradicts.

    A twin raises the outcome. It lowers a finding only if `again`, a run on other rows, shows the
    same (see `can_lower`): what rows did not reach, no engine has shown. Or if Spark's optimizer
    makes one query of both versions. A question about the state's schema is answered by any start
    on the old version's checkpoint, as Spark compares both schemas before the first row.
    If values only differ because one function got another expression, which the rules say of the
    operator, the outcome stays theirs: history mixes both. It stays theirs, too, if both versions
    did the same with rows that are too few to say so. `rules` are those of the engine, by the
    verdict's outcome.
    """
    report, started = _answer_by_start(report, verdict, (before, after))
    engine = _OUTCOMES[verdict.outcome]
    replaced = {x.node for v in (before, after) for x in (*(v.sources or ()), v.sink) if x}
    disagreements = tuple(_disagreements(report, engine, replaced - {None}))
    is_theirs = verdict.is_scaled and _is_mixed(report)
    if is_theirs or (verdict.is_thin and report.outcome is not Outcome.UNKNOWN):
        return WithTwin(report, disagreements, started)
    if again is not None or _is_one_query(verdict):
        report, lowered = _lower(report, verdict, again or verdict, (before, after))
        return WithTwin(report, disagreements, (*started, *lowered))
    rule = rules.get(verdict.outcome)
    if rule is None or _is_said(report, verdict):
        return WithTwin(report, disagreements, started)
    finding = rule.of(verdict, location_of(verdict, before, after))
    return WithTwin(replace(report, findings=(finding, *report.findings)), disagreements, started)


# So many rows and keys of an operator make a coincidence unlikely; fewer refute nothing.
_LEAST_ROWS, _LEAST_KEYS = 30, 8


def can_lower(report: Report, verdict: TwinVerdict, before: Version, after: Version) -> bool:
    """Whether a run refutes a finding, so that a second one is worth its time."""
    return not _is_one_query(verdict) and any(
        _refutes(f, verdict, (before, after)) for f in report.findings
    )


def worst_of(
    verdict: TwinVerdict, again: TwinVerdict | None
) -> tuple[TwinVerdict, TwinVerdict | None]:
    """Return the verdict of two runs: the second one's if only that one shows a failure.

    Then nothing is left that could lower a finding.
    """
    if again is not None and _OUTCOMES[again.outcome] > Outcome.UNKNOWN:
        return again, None
    return verdict, again


# Hours and days of two zones differ for few times of a day only.
_OTHER_ZONE = re.compile(r"_utc_timestamp\(|\bconvert_timezone\(")


def _refutes(finding: Finding, verdict: TwinVerdict, versions: tuple[Version, Version]) -> bool:
    """Whether equal states refute a finding about state, in an operator that rows reached well.

    If both versions are one query, an open question about anything else is answered, too.

    Of Kafka Streams only an open question: caches, threads and records on the way are not in a run.

    A column that is the same in all keys, or a filter that no row passed, has made the outcome
    UNKNOWN before.
    """
    is_equal = verdict.outcome == "resumes" and not verdict.mixed
    if not is_equal or finding.outcome < Outcome.UNKNOWN:
        return False
    is_open, is_of_state = finding.outcome is Outcome.UNKNOWN, finding.rule in _of_state()
    if _is_one_query(verdict):
        return is_open or is_of_state
    if not is_of_state:
        return False
    if finding.rule in _of_time() and not is_open:
        return False
    if verdict.rows == 0 or _calls_user_function(finding, versions):
        return False
    if verdict.streams_version:
        return is_open and verdict.is_exact and _fills_stores(verdict)
    said = f"{finding.before} {finding.after}"
    if _OTHER_ZONE.search(said) or _compares_with_another_constant(finding):
        return False
    nodes, ids = (finding.location.before, finding.location.after), _ids(finding, versions)
    exercised = {
        o.operator_id
        for o in verdict.operators
        if min(o.rows_before or 0, o.rows_after or 0) >= _LEAST_ROWS and o.keys >= _LEAST_KEYS
    }
    return bool(ids) and None not in nodes and ids <= exercised


# A comparison with a constant: what is behind the operator and is neither column nor call.
_COMPARED = re.compile(r"(<=>|[<>!]?=|[<>]) (?!(?:s|op)\d+\.)[^()<>=,']+")


def _compares_with_another_constant(finding: Finding) -> bool:
    """Whether only constants changed that something is compared with.

    Both versions give the same for most rows then: equal states show that no row lay between.
    """
    old, new = (_COMPARED.sub(r"\1 ?", str(side)) for side in (finding.before, finding.after))
    return old == new and finding.before != finding.after


def _is_one_query(verdict: TwinVerdict) -> bool:
    """Whether Spark's optimizer gives both versions one plan, so that nothing had to run."""
    return verdict.equivalence is not None and verdict.equivalence.is_same


def _calls_user_function(finding: Finding, versions: tuple[Version, Version]) -> bool:
    """Whether an expression hides in user code: made texts don't reach all that it does."""
    names = {name for version in versions for name in version.user_functions}
    said = f"{finding.before} {finding.after}"
    # The name of a lambda function begins with a bracket: no word boundary is before it.
    return any(re.search(rf"(?<!\w){re.escape(name)}\(", said) for name in names)


def _fills_stores(verdict: TwinVerdict) -> bool:
    """Whether many records changed every store of both versions, and many came out."""
    counts = [
        min(o.rows_before or 0, o.rows_after or 0)
        for o in verdict.operators
        if o.operator.startswith("store ")
    ]
    return min((verdict.rows_out, *counts)) >= _LEAST_ROWS


def _of_state() -> frozenset[str]:
    from headgate.rules.kafka_streams.codes import RULES as STREAMS_RULES
    from headgate.rules.spark.codes import RULES as SPARK_RULES

    of_streams = frozenset(rule.code for rule in STREAMS_RULES if rule.is_of_state)
    return of_streams | {rule.code for rule in SPARK_RULES if rule.is_of_state}


def _of_time() -> frozenset[str]:
    from headgate.rules.spark.codes import RULES as SPARK_RULES

    return frozenset(rule.code for rule in SPARK_RULES if rule.is_of_time)


def _lower(
    report: Report, verdict: TwinVerdict, again: TwinVerdict, versions: tuple[Version, Version]
) -> tuple[Report, tuple[Lowered, ...]]:
    """Return the report with refuted findings as RESUMES, which keep what the rule says."""
    seeds = (verdict.seed, again.seed)
    said = (_EQUAL if verdict.is_exact and again.is_exact else _ALIKE).format(*seeds)
    if _is_one_query(verdict):
        said = _ONE_QUERY
    findings, lowered = [], []
    for finding in report.findings:
        if all(_refutes(finding, v, versions) for v in (verdict, again)):
            lowered.append(Lowered(finding.rule, finding.outcome, seeds))
            why = f"{said} Without the twin runs, the rule reported: {finding.why}"
            finding = replace(_as_resumes(finding, why), state_effect=StateEffect.EXACT)
        findings.append(finding)
    return _sorted(report, findings), tuple(lowered)


def _answer_by_start(
    report: Report, verdict: TwinVerdict, versions: tuple[Version, Version]
) -> tuple[Report, tuple[Lowered, ...]]:
    """Return the report with the questions answered that a start on the old checkpoint answers."""
    from headgate.rules.spark.codes import RULES as SPARK_RULES

    codes = {rule.code for rule in SPARK_RULES if rule.is_of_start}
    has_started = verdict.outcome in ("resumes", "silently_wrong") and verdict.rows > 0
    ran = {o.operator_id for o in verdict.operators if None not in (o.rows_before, o.rows_after)}
    findings, lowered = [], []
    for finding in report.findings:
        is_open = finding.rule in codes and finding.outcome is Outcome.UNKNOWN
        if has_started and is_open and len(ids := _ids(finding, versions)) > 0 and ids <= ran:
            lowered.append(Lowered(finding.rule, finding.outcome, (verdict.seed,)))
            why = (
                f"{_STARTED.format(verdict.seed)} Without the twin run, the rule reported: "
                f"{finding.why}"
            )
            finding = _as_resumes(finding, why)
        findings.append(finding)
    return _sorted(report, findings), tuple(lowered)


def _ids(finding: Finding, versions: tuple[Version, Version]) -> set[int | None]:
    """Return the ids of the operators that a finding is about: of a watermark, all."""
    nodes = (finding.location.before, finding.location.after)
    return {
        o.operator_id
        for version, node in zip(versions, nodes, strict=True)
        for o in version.stateful or ()
        if node is not None and (o.node == node or node in {w.node for w in version.watermarks})
    }


def _as_resumes(finding: Finding, why: str) -> Finding:
    return replace(finding, outcome=Outcome.RESUMES, why=why, question=None, error_class=None)


def _sorted(report: Report, findings: list[Finding]) -> Report:
    ordered = sorted(findings, key=lambda f: f.outcome, reverse=True)
    return replace(report, findings=tuple(ordered))


_ONE_QUERY = "Spark's optimizer creates the same query plan for both versions."
_STARTED = (
    "In a twin run (seed {}), Spark started the new version on a checkpoint of the old version. "
    "So the state schemas are compatible."
)
_EQUAL = "Both versions had the same state at the end of two twin runs (seeds {} and {})."
_ALIKE = (
    "In two twin runs (seeds {} and {}), the new version wrote the same results with and without "
    "the old version's state."
)


def _is_mixed(report: Report) -> bool:
    return any(f.state_effect is StateEffect.MIXED for f in report.findings)


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
    if example is not None and "topic" in example.key:
        return Location(*(_sink_of(v, example.key["topic"]) for v in (before, after)))
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
    if "topic" in example.key:
        return (
            f"Example: for key {example.key.get('key')}, the new version writes "
            f"{_written(example.before)} to {example.key['topic']} after the restart, but "
            f"{_written(example.after)} if it starts from scratch."
        )
    if example.kind == "output":
        return (
            "Example: with the old version's checkpoint, the new version writes "
            f"{_written(example.before, 'row')}. With an empty checkpoint, it writes "
            f"{_written(example.after, 'row')}."
        )
    key = ", ".join(f"{name}={value!r}" for name, value in example.key.items())
    column = f" in column {example.columns[0]}" if example.columns[0] else ""
    stored = "no value" if example.before is None else repr(example.before)
    return (
        f"Example: for key {key}, the old version stored {stored}{column}, but the new "
        f"version {_would_have(example)}."
    )


def _written(value: object, kind: str = "record") -> str:
    return f"no {kind}" if value is None else str(value)


def _would_have(example: Counterexample) -> str:
    if example.after is None:
        return "has no row for this key"
    same = example.columns[0] == example.columns[1] or not example.columns[1]
    return f"stores {example.after!r}" + ("" if same else f" in column {example.columns[1]}")


def sentence(text: str) -> str:
    """Return a reason as a sentence: with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
