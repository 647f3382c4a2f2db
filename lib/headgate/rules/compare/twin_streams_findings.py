"""What a twin run of Kafka Streams adds to a report; `twin_findings` puts it there."""

from __future__ import annotations

from headgate.model.twin import TwinVerdict
from headgate.rules.compare.twin_findings import TwinRule, example_words, sentence
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult, declared

_SOURCE = "the twin run of this comparison: both versions on the same records"
_KEEP = (
    "Keep the old version's names of stores and repartition topics (Materialized, Grouped, "
    "StreamJoined). If the input topics still have all records, you can reset the application "
    "instead."
)


@declared(TwinRule, "TWN011", _SOURCE, outcomes=(Outcome.REFUSES,), remedies=(_KEEP,))
def kafka_streams_fails_to_start(verdict: TwinVerdict, location: Location) -> RuleResult:
    """Kafka Streams failed to start the new version on the old version's state.

    Both versions ran on the same records. The new version got the old version's state directory,
    internal topics and committed offsets.
    """
    refusal = verdict.refusal
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=location,
        because=sentence(f"{verdict.why}: {refusal.message}" if refusal else verdict.why),
        error_class=refusal.error_class if refusal else None,
        rollback=Rollback.UNKNOWN,
        remedy=_KEEP,
        scenario="from-scratch",
    )


@declared(TwinRule, "TWN012", _SOURCE, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP,))
def kafka_streams_writes_wrong_results(verdict: TwinVerdict, location: Location) -> RuleResult:
    """The new version starts, but it lost the old version's state or misreads that state.

    Both versions ran on the same records. After the restart, the new version's outputs differ from
    its outputs when it processes all records from scratch.
    """
    example = verdict.counterexample
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        location=location,
        before=example.before if example else None,
        after=example.after if example else None,
        because=f"{sentence(verdict.why)}{f' {example_words(example)}' if example else ''}",
        rollback=Rollback.UNKNOWN,
        remedy=_KEEP,
        scenario="from-scratch",
    )


_REHEARSE = "Rehearse with the real state directory: `headgate rehearse --state-dir`."
_DECIDES = "The records of the twin run don't answer this question: {question}"


@declared(
    TwinRule,
    "TWN013",
    _SOURCE,
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_REHEARSE,),
    questions=(_DECIDES,),
)
def kafka_streams_twin_run_undecided(verdict: TwinVerdict, location: Location) -> RuleResult:
    """The records of the twin run don't show what the new version does with the old state.

    The run doesn't show that the state is correct. With the old state, the new version may still
    write wrong results on real records, for example if only rare values show the difference.
    """
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        because=sentence(verdict.why),
        question=_DECIDES.format(question=verdict.question),
        remedy=_REHEARSE,
    )


RULES: tuple[TwinRule, ...] = (
    kafka_streams_fails_to_start,
    kafka_streams_writes_wrong_results,
    kafka_streams_twin_run_undecided,
)
STREAMS_RULES = {
    "refuses": kafka_streams_fails_to_start,
    "silently_wrong": kafka_streams_writes_wrong_results,
    "unknown": kafka_streams_twin_run_undecided,
}
