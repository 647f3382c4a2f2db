"""Set the engine's own verdict beside ours, and compare what two versions wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from headgate.model.kafka_streams_rehearsal import StreamsVerdict
from headgate.model.rehearsal import EngineOutcome, EngineVerdict, OutputDifference
from headgate.rules.core.report import Outcome, Report

_SAMPLE = 20


class Agreement(StrEnum):
    """OPEN: one of the two doesn't know, or the rehearsal can't see what the other says."""

    AGREE = "agree"
    DISAGREE = "disagree"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether rules and engine agree, and one sentence about it."""

    agreement: Agreement
    why: str


def judge(report: Report, engine: EngineVerdict, *, succeeded: str = "completed a batch") -> Judged:
    """Say whether the engine did what the rules expect; one batch shows no more.

    `succeeded` says what an engine did that didn't fail.
    """
    ours, refuses = report.outcome, engine.outcome is EngineOutcome.REFUSES
    if engine.outcome is EngineOutcome.UNKNOWN:
        return Judged(Agreement.OPEN, "The rehearsal has no result.")
    if ours is Outcome.UNKNOWN:
        did = f"failed to start with {_error(engine)}" if refuses else succeeded
        return Judged(
            Agreement.OPEN,
            (f"The rules can't decide (outcome Unknown). In the rehearsal, the new version {did}."),
        )
    if refuses:
        return _refused(report, engine)
    if ours is Outcome.REFUSES:
        return Judged(
            Agreement.DISAGREE,
            (
                "The rules expect that the new version fails to start. In the rehearsal, the new "
                f"version {succeeded}."
            ),
        )
    if ours is Outcome.SILENTLY_WRONG:
        return _ran_wrong(engine)
    return Judged(Agreement.AGREE, "Rules and engine agree: the new version resumes.")


def _refused(report: Report, engine: EngineVerdict) -> Judged:
    if report.outcome is not Outcome.REFUSES:
        why = (
            "The rules expect that the new version runs. In the rehearsal, the new version fails "
            f"with {_error(engine)}."
        )
        return Judged(Agreement.DISAGREE, why)
    expected = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
    names = {_last(e) for e in expected if e}
    if names and _last(engine.error_class or "") not in names:
        why = (
            "Rules and engine agree that the new version fails to start. The errors differ: the "
            f"new version fails with {_error(engine)}, and the rules expect "
            f"{_listed(expected)}."
        )
        return Judged(Agreement.AGREE, why)
    return Judged(
        Agreement.AGREE,
        (f"Rules and engine agree: the new version fails to start with {_error(engine)}."),
    )


def _error(engine: EngineVerdict) -> str:
    return engine.error_class or "an unknown error"


def _ran_wrong(engine: EngineVerdict) -> Judged:
    seen = engine.output
    if seen is not None and seen.same_input and (seen.only_before or seen.only_after):
        why = (
            "Rules and engine agree: the new version runs, and for the same input it writes "
            "different rows than the old version."
        )
        return Judged(Agreement.AGREE, why)
    why = (
        "Rules and engine agree: the new version runs. The rehearsal doesn't show whether the "
        "results are wrong."
    )
    return Judged(Agreement.OPEN, why)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join(sorted(n for n in names if n))


def compare_rows(
    before: Sequence[str],
    after: Sequence[str],
    columns: tuple[Sequence[str], Sequence[str]],
    *,
    old: EngineVerdict,
) -> OutputDifference:
    """Compare what both versions wrote for the same input; rows are JSON objects.

    `columns` are those of the old and the new version. Where they differ, what both have is
    compared, and the note says so; a field that is not in a row is null.
    """
    both = tuple(c for c in columns[0] if c in set(columns[1]))
    note = "" if list(columns[0]) == list(columns[1]) else _other_columns(*columns)
    was, now = (Counter(_key(r, both) for r in rows) for rows in (before, after))
    gone, come = was - now, now - was
    return OutputDifference(
        old=old.outcome,
        old_error_class=old.error_class,
        same_input=True,
        equal=(was & now).total(),
        only_before=gone.total(),
        only_after=come.total(),
        sample_before=_sample(gone),
        sample_after=_sample(come),
        columns=both,
        note=note,
    )


def _key(row: str, columns: Sequence[str]) -> str:
    found = json.loads(row)
    return json.dumps({c: found.get(c) for c in columns}, sort_keys=False, ensure_ascii=False)


def _sample(rows: Counter[str]) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(row) for row in sorted(rows.elements())[:_SAMPLE])


def _other_columns(was: Sequence[str], now: Sequence[str]) -> str:
    lost = [c for c in was if c not in now]
    new = [c for c in now if c not in was]
    parts = ([f"removed: {', '.join(lost)}"] if lost else []) + (
        [f"added: {', '.join(new)}"] if new else []
    )
    if not parts:
        return "the new version writes the columns in a different order than the old version"
    return f"the new version writes different columns ({'; '.join(parts)})"


def judge_streams(report: Report, engine: StreamsVerdict) -> Judged:
    """Say whether Kafka Streams did what the rules expect; one batch shows no more.

    Unlike Spark's, a rehearsal of Streams sees data that are left behind: a store that the new
    version does not read is evidence of a silently wrong result if the rules expect one.
    """
    plain = EngineVerdict(
        outcome=engine.outcome, error_class=engine.error_class, output=engine.output
    )
    found = judge(report, plain, succeeded="started and read its input to the end")
    if engine.outcome is not EngineOutcome.RESUMES or not engine.lost:
        return found
    names = ", ".join(s.store for s in engine.lost)
    if report.outcome is Outcome.SILENTLY_WRONG:
        return Judged(
            Agreement.AGREE,
            (
                "Rules and engine agree: the new version runs, but no longer reads these state "
                f"stores: {names}."
            ),
        )
    if report.outcome in (Outcome.RESUMES, Outcome.NO_EFFECT):
        why = (
            "The rules expect that the new version restores its state. In the rehearsal, the new "
            f"version runs, but no longer reads these state stores: {names}."
        )
        return Judged(Agreement.OPEN, why)
    if report.outcome is Outcome.UNKNOWN:
        return replace(found, why=f"{found.why} It no longer reads these state stores: {names}.")
    return found
