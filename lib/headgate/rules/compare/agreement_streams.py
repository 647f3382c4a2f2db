"""Set the verdict of Kafka Streams itself beside ours, with what became of its stores."""

from __future__ import annotations

from headgate.model.kafka_streams_rehearsal import StreamsVerdict
from headgate.model.rehearsal import EngineOutcome, EngineVerdict
from headgate.rules.compare.engine_agreement import Agreement, Judged, judge
from headgate.rules.core.report import Outcome, Report


def judge_streams(report: Report, engine: StreamsVerdict) -> Judged:
    """Say whether what the rules expect is what Kafka Streams did; one batch proves no more.

    Other than Spark's, a rehearsal of Streams sees data that are left behind: a store that the new
    version does not read is a proof of a silently wrong result where the rules expect one.
    """
    plain = EngineVerdict(
        outcome=engine.outcome, error_class=engine.error_class, output=engine.output
    )
    found = judge(report, plain)
    if engine.outcome is not EngineOutcome.RESUMES or not engine.lost:
        return found
    names = ", ".join(s.store for s in engine.lost)
    if report.outcome is Outcome.SILENTLY_WRONG:
        return Judged(Agreement.AGREE, f"Both: it runs, and nobody reads {names} any more.")
    if report.outcome in (Outcome.RESUMES, Outcome.NO_EFFECT):
        why = f"It runs, but nobody reads {names} any more; the rules expect no harm."
        return Judged(Agreement.OPEN, why)
    return found
