"""Findings of the rules that a twin run refutes or answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from headgate.model.twin import TwinVerdict
from headgate.model.version import Version
from headgate.rules.core.report import Finding, Outcome, Report, StateEffect


@dataclass(frozen=True, slots=True)
class Lowered:
    """A finding that runs refuted or answered: the rule, its own outcome, and the runs' seeds."""

    rule: str
    rules: Outcome
    seeds: tuple[int, ...]


# So many rows and keys of an operator make a coincidence unlikely; fewer refute nothing.
_LEAST_ROWS, _LEAST_KEYS = 30, 8


def can_lower(report: Report, verdict: TwinVerdict, before: Version, after: Version) -> bool:
    """Whether a run refutes a finding, so that a second one is worth its time."""
    return not is_one_query(verdict) and any(
        _refutes(f, verdict, (before, after)) for f in report.findings
    )


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
    if is_one_query(verdict):
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


def is_one_query(verdict: TwinVerdict) -> bool:
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


def lower(
    report: Report, verdict: TwinVerdict, again: TwinVerdict, versions: tuple[Version, Version]
) -> tuple[Report, tuple[Lowered, ...]]:
    """Return the report with refuted findings as RESUMES, which keep what the rule says."""
    seeds = (verdict.seed, again.seed)
    said = (_EQUAL if verdict.is_exact and again.is_exact else _ALIKE).format(*seeds)
    without = "Without the twin runs"
    if is_one_query(verdict):
        said, without = _ONE_QUERY, "Without this comparison of plans"
    findings, lowered = [], []
    for finding in report.findings:
        if all(_refutes(finding, v, versions) for v in (verdict, again)):
            lowered.append(Lowered(finding.rule, finding.outcome, seeds))
            why = f"{said} {without}, the rule reported: {finding.why}"
            finding = replace(_as_resumes(finding, why), state_effect=StateEffect.EXACT)
        findings.append(finding)
    return _sorted(report, findings), tuple(lowered)


def answer_by_start(
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
