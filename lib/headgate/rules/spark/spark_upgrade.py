"""Rules about a change of Spark itself between the two versions."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.upstream import is_drawn
from headgate.rules.spark.facts.checkpoint_writer import MEASURED_RESTARTS, writer
from headgate.rules.spark.facts.pinned_settings import ANSI

# Since which version of Spark a version of a log is read: offsets 2, commits 2 and 3.
_OFFSETS_SINCE = {1: (2, 0), 2: (4, 2)}
_COMMITS_SINCE = {1: (2, 0), 2: (4, 0), 3: (4, 2)}
_RISKY = ("cast(", " / ", " % ", "[", "element_at(", "elt(", "to_date(", "to_timestamp(", "make_")


_RESTART_WITH_THE_SPARK = (
    "Restart with the Spark version that wrote the checkpoint, or start with a new checkpoint."
)


@rule("SPK001", outcomes=(Outcome.REFUSES,), remedies=(_RESTART_WITH_THE_SPARK,))
def log_of_newer_spark(c: Comparison) -> Iterator[RuleResult]:
    """The first line of a log file in the checkpoint is its format version.

    Spark fails if it doesn't support this format version.
    """
    progress = c.before.progress
    found = (
        ("offsets", c.before.offset_log_version, _OFFSETS_SINCE),
        ("commits", progress.commit_log_version if progress else None, _COMMITS_SINCE),
    )
    for log, version, since in found:
        if version is not None and not c.spark.at_least(*since.get(version, (99, 0))):
            yield RuleResult(
                outcome=Outcome.REFUSES,
                before=f"{log} v{version}",
                after=f"Spark {c.spark.text}",
                because=(
                    f"`{log}` has format version {version}, which Spark {c.spark.text} can't "
                    "read."
                ),
                error_class="INVALID_LOG_VERSION" if c.spark.at_least(4, 0) else
                "IllegalStateException",
                remedy=_RESTART_WITH_THE_SPARK,
                scenario="from-scratch",
            )  # fmt: skip


_REHEARSE_IT_ON = "Rehearse the new version on a copy of the checkpoint."
_KEEP_A_COPY = "Keep a copy of the checkpoint for a rollback."
_DOES_THE_NEW = (
    "Does the new version resume from a copy of the checkpoint? `headgate rehearse` tests this."
)


@rule(
    "SPK002",
    (
        "measured: Spark 3.5.8, 4.0.2 and 4.2.0 were restarted on each other's checkpoints. Other "
        "versions were not measured"
    ),
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_REHEARSE_IT_ON, _KEEP_A_COPY),
    questions=(_DOES_THE_NEW,),
)
def spark_changed(c: Comparison) -> Iterator[RuleResult]:
    """Spark doesn't guarantee that one version resumes from the checkpoint of another.

    In tests, 4.2 resumed from checkpoints of 3.5 and 4.0, and both resumed from checkpoints of 4.2.
    The exception was a left outer join of two streams on a checkpoint of 3.5. Spark 4.2 failed to
    start with STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE, because stored keys are nullable in 4.2.
    """
    old = writer(c.before)
    if old is None or old.number == c.spark.number:
        return
    joins = any(o.kind is OperatorKind.STREAM_JOIN for o in c.before.stateful or ())
    tried = (old.number, c.spark.number) in MEASURED_RESTARTS
    looser = joins and not old.at_least(4, 0) and c.spark.at_least(4, 0)
    sentence = f"Spark {old.text} wrote the checkpoint. Spark {c.spark.text} will read it."
    if tried and not looser:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            before=old.text,
            after=c.spark.text,
            because=sentence,
            remedy=_KEEP_A_COPY,
        )
        return
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        before=old.text,
        after=c.spark.text,
        because=sentence + ("" if tried else (" Headgate was not tested with this combination.")),
        question=_DOES_THE_NEW,
        rollback=Rollback.UNKNOWN,
        remedy=_REHEARSE_IT_ON,
    )


_USE_TRY_CAST = f"Use try_cast and similar functions, or set {ANSI}=false."
_DOES_THE_INPUT = (
    "Does the input have rows for which a cast, a division or an array index returned null? Such "
    "rows now make the batch fail (CAST_INVALID_INPUT and similar errors)."
)


@rule(
    "SPK003",
    "Spark's migration guide (ANSI mode is on by default since 4.0)",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_USE_TRY_CAST,),
    questions=(_DOES_THE_INPUT,),
)
def ansi_by_default(c: Comparison) -> Iterator[RuleResult]:
    """ANSI mode is on by default in Spark 4.0 and later.

    An invalid cast, a division by zero or a wrong array index then makes the batch fail. Before
    4.0, the result was null.
    """
    old = writer(c.before)
    if old is None or old.at_least(4, 0) or not c.spark.at_least(4, 0):
        return
    if ANSI in c.before.settings or ANSI in c.after.settings:
        return
    risky = [n.label for n in c.after.topology.nodes if any(w in n.label.lower() for w in _RISKY)]
    if is_drawn(c.after.topology) and not risky:
        return
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        before=old.text,
        after=c.spark.text,
        because=f"In ANSI mode, Spark's default since 4.0, this expression may fail: {risky[0]}."
        if risky
        else "",
        question=_DOES_THE_INPUT,
        remedy=_USE_TRY_CAST,
    )
