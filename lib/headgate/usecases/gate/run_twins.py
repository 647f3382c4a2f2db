"""Run both versions of changed pipelines on generated rows, in two Spark sessions for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from headgate.errors import HeadgateError, UnreachableError, with_next_step
from headgate.gateway.spark.twin_version import TwinProcess
from headgate.model.registered_pipelines import Pipeline
from headgate.model.spark_settings import PARTITIONS, PINNED_DEFAULTS
from headgate.model.twin import TwinVerdict
from headgate.model.version import Version
from headgate.parse.evidence.version_file import dump, fingerprint, load
from headgate.rules.compare.gated import ComparedWith, Gated
from headgate.rules.compare.twin_findings import SPARK_RULES, TwinRule, with_twin
from headgate.rules.core.report import Finding, Location, Outcome, Report
from headgate.rules.core.upstream import feeding_state
from headgate.usecases.compare.compare_versions import report_on
from headgate.usecases.context import Context
from headgate.usecases.gate.old_version import OldVersion
from headgate.usecases.gate.sides import Sides
from headgate.usecases.rehearsal.twin_spark import TwinOptions, TwinRun, run_twin

Say = Callable[[str], None]


class TwinChoice(StrEnum):
    """Which changed pipelines get a twin run."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Both versions of a pipeline, and its registrations in the base and in the working tree."""

    pipeline: Pipeline
    registered_before: Pipeline
    old: OldVersion
    before: Version
    after: Version


class TwinRuns:
    """Starts both Spark sessions at the first twin run; they end with the `with` block."""

    def __init__(
        self, context: Context, sides: Sides, scratch: Path, choice: TwinChoice, seconds: float
    ) -> None:
        self._context, self._sides, self._scratch = context, sides, scratch
        self._choice, self._seconds = choice, seconds
        self._stack = ExitStack()
        self._processes: tuple[TwinProcess, TwinProcess] | None = None
        self._started = 0

    def __enter__(self) -> TwinRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def judge(self, one: Gated, pair: Pair, say: Say) -> Gated:
        """Return the result with that of the twin run, or with the reason why there was none."""
        assert one.report is not None
        if not self._is_wanted(one.report, pair):
            return one
        old = pair.old
        if old.other_code and old.compared_with is not ComparedWith.BASE:
            note = (
                f"No twin run: it would run the code of the base commit, but the old version "
                f"({old.name}) may have different code, because {old.other_code}."
            )
            return replace(one, twin_note=note)
        if self._sides.problem:
            return replace(one, twin_note=f"No twin run: {self._sides.problem}")
        try:
            found = self._run(pair, say)
        except UnreachableError as error:
            self._end()
            return failed_run(one, error)
        except HeadgateError as error:
            self._end()
            return replace(one, twin_note=f"No twin run: {with_next_step(error)}")
        if any(p.ended(pair.pipeline.name) for p in self._processes or ()):
            self._end()
        return self._with_run(one, pair, found)

    def _is_wanted(self, report: Report, pair: Pair) -> bool:
        if self._choice is TwinChoice.AUTO:
            is_open = report.outcome is Outcome.UNKNOWN
            return is_open or touches_state(report, pair.before, pair.after)
        return self._choice is TwinChoice.ALWAYS

    def _run(self, pair: Pair, say: Say) -> TwinRun:
        before, after = pair.registered_before.entry_point, pair.pipeline.entry_point
        assert before is not None and after is not None
        options = TwinOptions(
            seconds=self._seconds, query=pair.pipeline.query, scratch=self._scratch
        )
        return run_twin(
            before,
            after,
            context=self._context,
            options=options,
            say=lambda text: say(f"{pair.pipeline.name}: {text}"),
            processes=self._sparks(),
        )

    def _sparks(self) -> tuple[TwinProcess, TwinProcess]:
        if self._processes is None:
            self._started += 1
            folder = self._scratch / f"twin-{self._started}"
            self._processes = (
                self._stack.enter_context(TwinProcess(folder / "old", self._sides.before)),
                self._stack.enter_context(TwinProcess(folder / "new", self._sides.after)),
            )
        return self._processes

    def _end(self) -> None:
        """End both: one that failed may hang, and the next run gets others."""
        self._stack.close()
        self._processes = None

    def _with_run(self, one: Gated, pair: Pair, found: TwinRun) -> Gated:
        report = one.report
        was_built = all(version.evidence for version in found.versions)
        if pair.old.compared_with is ComparedWith.BASE and was_built:
            # What the run has left says more than a capture: the old version's checkpoint.
            report = report_on(
                *map(_as_kept, found.versions),
                context=self._context,
                evidence=(),
                pipeline=one.pipeline,
            )
        assert report is not None
        differs = ""
        if pair.old.compared_with is not ComparedWith.BASE:
            differs = other_session(pair.before, found.versions[0])
        both = with_twin(
            report, found.verdict, *found.versions, again=found.again, may_lower=not differs
        )
        note = (
            f"The twin run makes no finding less severe, because {differs} in the old version "
            f"({pair.old.name}) and in the twin run."
        )
        return replace(
            one,
            twin_note=note if differs else one.twin_note,
            report=_worst_first(both.report, both.report.findings),
            twin=found.verdict,
            versions=found.versions,
            disagreements=both.disagreements,
            lowered=both.lowered,
            plans=found.plans,
            hints=found.hints,
        )


def other_session(old: Version, ran: Version) -> str:
    """Say what of an old version's session isn't, or may not be, that of the run; "" if all is.

    A twin run sets its own number of partitions, so only settings of the session are compared.
    """
    if old.engine_version is None or old.engine_version != ran.engine_version:
        return "Spark's release isn't the same, or isn't known,"
    if not (old.settings or any(e.kind == "settings" for e in old.evidence)):
        return "the settings aren't known to be the same"
    names = {k for k in old.settings | ran.settings if old.settings.get(k) != ran.settings.get(k)}
    for key, value in old.pinned.items():
        default = PINNED_DEFAULTS.get(key, value)
        if key != PARTITIONS and value != ran.pinned.get(key, ran.settings.get(key, default)):
            names.add(key)
    return f"these settings differ ({', '.join(sorted(names))})" if names else ""


def failed_run(
    one: Gated, error: UnreachableError, rules: Mapping[str, TwinRule] = SPARK_RULES
) -> Gated:
    """Return the result UNKNOWN of a pipeline that needed a twin run but got none.

    If the rules found a failure, this failure stays the outcome.
    """
    note = f"The twin run failed: {with_next_step(error)}"
    asked = TwinVerdict(
        outcome="unknown",
        why=f"the twin run failed: {error}",
        question="Does a twin run finish with a longer --timeout or on a larger machine?",
    )
    finding = rules["unknown"].of(asked, Location())
    report = one.report or Report()
    report = _worst_first(report, (*report.findings, finding))
    return replace(one, report=report, twin_note=note)


def _worst_first(report: Report, findings: tuple[Finding, ...]) -> Report:
    return replace(report, findings=tuple(sorted(findings, key=lambda f: -f.outcome)))


def _as_kept(version: Version) -> Version:
    return load(dump(version), source="the twin run")


def touches_state(report: Report, before: Version, after: Version) -> bool:
    """Return whether a difference may change the meaning of the state.

    A change after the last stateful operator doesn't, and neither does a change of a query without
    state.
    """
    if before.stateful == () and after.stateful == ():
        return False
    if fingerprint(before) == fingerprint(after):
        return False
    if not report.changes or before.functions != after.functions:
        return True
    old, new = feeding_state(before.topology), feeding_state(after.topology)
    return any(
        c.before in old | _stateful(before) or c.after in new | _stateful(after)
        for c in report.changes
    )


def _stateful(version: Version) -> frozenset[str]:
    stores = (s.node for o in version.stateful or () for s in o.stores)
    nodes = (o.node for o in version.stateful or ())
    return frozenset(n for n in (*nodes, *stores) if n)
