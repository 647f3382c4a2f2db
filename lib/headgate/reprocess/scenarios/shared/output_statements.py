"""What every scenario and its undo do to outputs, declared once for all engines.

`build_plan` states what is true of a plan, `scripts/scenario_pages.py` writes all of it to the
docs. A scenario or engine without an entry fails
`tests/reprocess/scenarios/test_output_statements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.model.version import Engine
from headgate.reprocess.output_effects import Declared, Fact, OutputEffects, Statement, says
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.output_facts import facts_of, words_of

_SPARK, _STREAMS, _GROUP = Engine.SPARK, Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP

_STAYS = says(undo="What the run wrote to {to} stays: the undo deletes and corrects nothing there.")
_TWICE = says(
    Fact.REPROCESSES,
    run="Results are written to {to} a second time. Consumers get duplicates, unless they "
    "overwrite by key.",
    unless=(Fact.NEW_OUTPUTS,),
)
_MISSING = says(Fact.SKIPS, run="The results of the skipped records are missing in {to}.")
_ONCE = says(
    run="No record is reprocessed or skipped.",
    unless=(Fact.REPROCESSES, Fact.SKIPS),
)
_ONLY = says(run="All other records are processed as before.")
_EMPTIES = says(
    Fact.EMPTIED, run="The contents of {to} are removed first, then rebuilt from the inputs."
)
_GONE = says(
    Fact.EMPTIED,
    undo=(
        "Removed records can't be restored without --back-up-outputs, which keeps a copy for the "
        "undo."
    ),
    unless=(Fact.BACKED_UP,),
)
_REFILLS = says(
    Fact.BACKED_UP,
    undo="The undo restores the old records of {to}, with other offsets, and deletes the run's.",
)
_NEW = says(
    Fact.NEW_OUTPUTS,
    run="Results go to new outputs. The old ones stay as they are.",
    undo="The new outputs stay. Results in them are missing in the old ones until reprocessed.",
)

# A Spark query whose undo puts back a checkpoint of before.
_SAME_AGAIN = says(
    undo=(
        "The query resumes after its last batch before the run. Results since then are written a "
        "second time."
    ),
)
_DROPPED = says(
    Fact.BY_BATCH,
    undo=(
        "{to} drops batches whose number the run has already written, with their new rows. First "
        "restore {to} to its content before the run."
    ),
)
_RESUMES = says(run="Only results of an uncommitted batch are written twice.")

# A Kafka Streams application whose inputs begin at another place.
_RESTARTS = says(
    Fact.STATE_GONE,
    run="Counts, windows and joins restart from zero. Until {name} has caught up, the newest values"
    " in {to} are too small.",
    unless=(Fact.NEW_OUTPUTS,),
)
_TOO_SMALL = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Windows and counts that began before {point} come out too small. They overwrite correct"
    " results in {to} and stay wrong.",
    unless=(Fact.NEW_OUTPUTS,),
)
_REMEDY = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Only from-scratch corrects them, if the inputs still hold all records.",
    unless=(Fact.NEW_OUTPUTS,),
)
_TOO_SMALL_NEW = says(
    Fact.STATE_GONE,
    Fact.CUT,
    Fact.NEW_OUTPUTS,
    run="Windows and counts that began before {point} come out too small in the new outputs.",
)
_TOO_LARGE = says(
    Fact.STATE_KEPT,
    Fact.REPROCESSES,
    run="State is kept, so reprocessed records count twice. Too large results overwrite correct"
    " ones in {to}.",
)
_NOT_YET = says(
    Fact.STATE_GONE,
    undo="If {name} hasn't caught up, keys keep wrong newest values in {to} until their next"
    " record. Closed windows get none and stay wrong. Let it catch up before the undo.",
    unless=(Fact.NEW_OUTPUTS, Fact.BACKED_UP),
)
_RESTORED = says(
    Fact.STATE_RESTORED,
    undo="State and offsets are restored. A key's next record makes its result correct again.",
)
_EMPTY_STATE = says(
    Fact.STATE_GONE,
    undo="The state isn't restored. Counts and windows restart from zero at the old offsets, and"
    " overwrite correct results in {to}.",
    unless=(Fact.STATE_RESTORED,),
)
_STATE_OF_RUN = says(
    Fact.STATE_KEPT,
    undo=(
        "The state isn't restored: it still includes the records that the run processed. Records "
        "since then count twice, and too large results overwrite correct ones in {to}."
    ),
)
_AFTER_RESET = says(
    undo="Results of records that came since are written to {to} a second time.",
)
_STREAMS_RESET = (
    *(_ONCE, _TWICE, _MISSING, _EMPTIES, _NEW),
    *(_RESTARTS, _TOO_SMALL, _TOO_SMALL_NEW, _TOO_LARGE),
    *(_GONE, _REFILLS, _NOT_YET, _RESTORED, _EMPTY_STATE, _STATE_OF_RUN, _AFTER_RESET),
    replace(_STAYS, unless=frozenset({Fact.BACKED_UP})),
)

# A consumer group: what it does with a record is all that Headgate can call its output.
_DONE_TWICE = says(
    Fact.REPROCESSES,
    run="{name} processes records a second time. Consumers of its results get duplicates.",
)
_DONE_STAYS = says(
    undo=(
        "Effects of {name} since the run are not rolled back. It repeats this for records after "
        "the old offsets."
    ),
)
_GROUP_MOVE = (_ONCE, _DONE_TWICE, _MISSING, _EMPTIES, _NEW, _GONE, _REFILLS, _DONE_STAYS)

_REMOVED = says(run="{to} doesn't change.")
_HELD = says(run="Nothing is written while it is paused.", unless=(Fact.RESUMED,))
_GOES_ON = says(
    Fact.RESUMED,
    run="It continues where it was paused. No result is lost.",
    undo="It is paused again. Output written since stays.",
)
_AGAIN_IN_FLIGHT = says(
    Fact.RESTARTED,
    run=(
        "The batch or records in flight at the stop are reprocessed later: their results may be "
        "written twice."
    ),
    unless=(Fact.RESUMED,),
)
_LETS_GO = says(
    undo="It continues where it was paused. No result is lost.",
    unless=(Fact.RESUMED,),
)
_PAUSE = (_HELD, _GOES_ON, _AGAIN_IN_FLIGHT, _LETS_GO)

_NEW_FORM = says(
    run="The new version continues at the old offsets. {to} holds results of both versions."
)


def _not_if_raised(said: Statement) -> Statement:
    """Return the statement; what it says of an undo is moot where that is blocked."""
    return replace(said, unless=said.unless | {Fact.RAISED}) if said.undo else said


STATEMENTS: Mapping[tuple[str, Engine], Declared] = {
    ("from-scratch", _SPARK): Declared(
        statements=(
            _ONCE,
            _TWICE,
            _MISSING,
            _EMPTIES,
            _NEW,
            says(
                Fact.STATE_GONE,
                run="State restarts from zero. In update and complete mode the newest values in"
                " {to} are too small until {name} has caught up.",
                undo="If {name} hasn't caught up, keys keep wrong newest values in {to} until their"
                " next row. Let it catch up before the undo.",
                unless=(Fact.NEW_OUTPUTS,),
            ),
            replace(_STAYS, unless=frozenset({Fact.BACKED_UP, Fact.EMPTIED})),
            _REFILLS,
            says(
                Fact.EMPTIED,
                undo=(
                    "The old files of a file sink are restored; the run's files move to backup. "
                    "Deleted records are restored only with --back-up-outputs."
                ),
                unless=(Fact.BACKED_UP,),
            ),
            _SAME_AGAIN,
        )
    ),
    ("from-scratch", _STREAMS): Declared(statements=_STREAMS_RESET),
    ("from-scratch", _GROUP): Declared(statements=_GROUP_MOVE),
    ("from-point", _SPARK): Declared(
        statements=(_ONCE, _TWICE, _MISSING, _NEW, _STAYS, _SAME_AGAIN)
    ),
    ("from-point", _STREAMS): Declared(statements=(*_STREAMS_RESET, _REMEDY)),
    ("from-point", _GROUP): Declared(statements=_GROUP_MOVE),
    (RESET, _STREAMS): Declared(statements=(*_STREAMS_RESET, _REMEDY)),
    ("new-checkpoint", _SPARK): Declared(
        statements=(
            says(
                run=(
                    "No record is skipped. The output of an uncommitted batch may be written a "
                    "second time."
                )
            ),
            _NEW,
            _STAYS,
            _SAME_AGAIN,
        )
    ),
    ("repartition", _SPARK): Declared(statements=(_RESUMES, _STAYS, _SAME_AGAIN, _DROPPED)),
    ("repartition", _STREAMS): Declared(
        statements=(
            *(_not_if_raised(s) for s in _STREAMS_RESET),
            says(
                Fact.RAISED,
                run=(
                    "Records of one key are in different partitions before and after the change "
                    "in each input."
                ),
                undo="An undo is blocked once partitions were added: Kafka can't remove them.",
            ),
        )
    ),
    ("rewind", _SPARK): Declared(
        statements=(
            replace(_TWICE, unless=frozenset()),
            _ONCE,
            _MISSING,
            says(
                Fact.BY_BATCH,
                undo="The file sink's log and files are restored, and the run's move to backup."
                " A Delta or Iceberg table keeps what the run wrote.",
            ),
            replace(_STAYS, unless=frozenset({Fact.BY_BATCH})),
            _SAME_AGAIN,
        )
    ),
    ("offline-upgrade", _SPARK): Declared(
        statements=(_NEW_FORM, _RESUMES, _STAYS, _SAME_AGAIN, _DROPPED)
    ),
    ("offline-upgrade", _STREAMS): Declared(
        statements=(_NEW_FORM, _STAYS, _AFTER_RESET, _STATE_OF_RUN)
    ),
    ("offline-upgrade", _GROUP): Declared(statements=(_NEW_FORM, _DONE_STAYS)),
    ("repair", _SPARK): Declared(
        statements=(
            says(
                run=(
                    "A removed batch is reprocessed. What it had written to {to} may be written "
                    "twice."
                )
            ),
            _STAYS,
            says(
                undo=(
                    "The broken checkpoint is restored. If the query starts on it, results since "
                    "then are written a second time."
                )
            ),
            _DROPPED,
        )
    ),
    ("repair", _GROUP): Declared(
        statements=(
            replace(_ONCE, unless=_ONCE.unless | {Fact.ABORTED}),
            _DONE_TWICE,
            _MISSING,
            says(
                Fact.ABORTED,
                run=(
                    "Consumers with read_committed never receive the records of the transaction. "
                    "They receive the records after it."
                ),
                undo="An aborted transaction stays aborted.",
            ),
            says(
                undo=(
                    "The old offsets are outside the log. {name} then follows its "
                    "auto.offset.reset, and processes records twice or skips them."
                ),
                unless=(Fact.ABORTED,),
            ),
            says(undo="Effects of {name} since the run are not rolled back."),
        )
    ),
    ("skip-records", _SPARK): Declared(
        statements=(
            _ONLY,
            _MISSING,
            _STAYS,
            _SAME_AGAIN,
            says(
                Fact.BY_BATCH,
                undo=(
                    "The file sink's later files move to backup. A Delta, Iceberg or Hudi table "
                    "drops batches whose number it has already recorded: restore the table first."
                ),
            ),
        )
    ),
    ("skip-records", _STREAMS): Declared(
        statements=(_ONLY, _MISSING, _STAYS, _AFTER_RESET, _STATE_OF_RUN)
    ),
    ("skip-records", _GROUP): Declared(statements=(_ONLY, _MISSING, _DONE_STAYS)),
    ("decommission", _SPARK): Declared(
        statements=(
            _REMOVED,
            says(undo="Nothing in {to} changes. The checkpoint is restored as it was."),
        ),
        remains=False,
    ),
    ("decommission", _STREAMS): Declared(
        statements=(
            _REMOVED,
            says(undo="Nothing in {to} changes until {name} starts again."),
            says(Fact.STATE_RESTORED, undo="State and offsets are restored: results continue."),
            _EMPTY_STATE,
        ),
        remains=False,
    ),
    ("decommission", _GROUP): Declared(
        statements=(
            _REMOVED,
            says(undo="Nothing in {to} changes. {name} continues at its old offsets."),
        ),
        remains=False,
    ),
    ("pause", _SPARK): Declared(statements=_PAUSE, remains=False),
    ("pause", _STREAMS): Declared(statements=_PAUSE, remains=False),
    ("pause", _GROUP): Declared(statements=_PAUSE, remains=False),
}
"""Every scenario and engine that a plan with steps exists for, the reset command's among them."""

UNDONE = "An undo can't be undone. Plan the scenario again instead."
BEHIND = (
    "{name} has at least {count} records left to reprocess. Their keys keep a wrong newest value"
    " in its outputs. Let it catch up before the undo."
)
UNSTATED = "What the run wrote stays: the undo deletes and corrects nothing in its outputs."


def with_statements(request: PlanRequest, plan: Plan) -> Plan:
    """Return the plan with what is declared of its scenario; one without steps does nothing."""
    declared = STATEMENTS.get((request.scenario, request.pipeline.engine))
    if declared is None or not plan.steps:
        return plan
    # Answers that a builder has resolved, such as a time in place of a duration.
    request = replace(request, options=plan.options or request.options)
    facts, words = facts_of(request, plan), words_of(request)
    true = [s for s in declared.statements if s.when <= facts and not s.unless & facts]
    applier = OutputEffects(
        run=tuple(s.run.format(**words) for s in true if s.run),
        undo=tuple(s.undo.format(**words) for s in true if s.undo),
        remains=declared.remains or Fact.RESUMED in facts,
    )
    return replace(plan, outputs=plan.outputs.joined(applier))
