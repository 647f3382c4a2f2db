"""What every scenario and its undo do to outputs, declared once for all engines.

`build_plan` states what is true of a plan, `scripts/scenario_pages.py` writes all of it to the
docs. A scenario or engine without an entry fails
`tests/reprocess/scenarios/shared/test_output_statements.py`.
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

_STAYS = says(
    undo="Output written to {to} since the run is kept: an undo doesn't delete or correct it."
)
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
    undo=("An undo can't restore deleted records, unless you pass --back-up-outputs."),
    unless=(Fact.BACKED_UP,),
)
_REFILLS = says(
    Fact.BACKED_UP,
    undo="An undo deletes the new records in {to} and restores the old ones, with other offsets.",
)
_NEW = says(
    Fact.NEW_OUTPUTS,
    run="Results are written to new outputs. The old outputs don't change.",
    undo="An undo keeps the new outputs. Their results are missing in the old outputs until "
    "reprocessed.",
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
        "{to} silently drops batches whose number it has already recorded. Before the undo, "
        "restore {to} to its state before the run."
    ),
)
_RESUMES = says(run="Only results of an uncommitted batch are written twice.")

# A Kafka Streams application whose inputs begin at another place.
_RESTARTS = says(
    Fact.STATE_GONE,
    run="State restarts empty. Until {name} has caught up, the newest counts and windows in {to} "
    "are too small.",
    unless=(Fact.NEW_OUTPUTS,),
)
_TOO_SMALL = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Windows and counts that began before {point} are too small, because earlier records are "
    "missing. They overwrite correct results in {to} and stay wrong.",
    unless=(Fact.NEW_OUTPUTS,),
)
_REMEDY = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Only from-scratch corrects these windows and counts, if the inputs still hold all "
    "records.",
    unless=(Fact.NEW_OUTPUTS,),
)
_TOO_SMALL_NEW = says(
    Fact.STATE_GONE,
    Fact.CUT,
    Fact.NEW_OUTPUTS,
    run="Windows and counts that began before {point} are too small in the new outputs.",
)
_TOO_LARGE = says(
    Fact.STATE_KEPT,
    Fact.REPROCESSES,
    run="The state is kept, so reprocessed records count twice. Results that are too large "
    "overwrite correct results in {to}.",
)
_NOT_YET = says(
    Fact.STATE_GONE,
    undo="Before the undo, wait until {name} has caught up. Otherwise the newest value of a key "
    "in {to} stays wrong until the key's next record. Closed windows stay wrong.",
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
        "The state isn't restored: it still includes the records that were processed since the "
        "run. These records count twice, and results that are too large overwrite correct "
        "results in {to}."
    ),
)
_AFTER_RESET = says(
    undo="Results of records after the old offsets are written to {to} a second time.",
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
        "An undo doesn't roll back what {name} did since the run. {name} processes the records "
        "after the old offsets a second time."
    ),
)
_GROUP_MOVE = (_ONCE, _DONE_TWICE, _MISSING, _EMPTIES, _NEW, _GONE, _REFILLS, _DONE_STAYS)

_REMOVED = says(run="Nothing in {to} changes.")
_HELD = says(run="{name} writes nothing while it is paused.", unless=(Fact.RESUMED,))
_GOES_ON = says(
    Fact.RESUMED,
    run="{name} resumes where it was paused. No result is lost.",
    undo="{name} is paused again. Output written since the resume is kept.",
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
    undo="{name} resumes where it was paused. No result is lost.",
    unless=(Fact.RESUMED,),
)
_PAUSE = (_HELD, _GOES_ON, _AGAIN_IN_FLIGHT, _LETS_GO)

_REDRIVE = (
    says(
        run="{name} processes the redriven records as new ones. Side effects of their first "
        "attempt may happen twice.",
    ),
    says(run="Records stay in the dead letter topic; a later run does not redrive them again."),
    says(
        undo=(
            "Records that were written to an existing topic can't be removed. Only a retry topic "
            "that the run created is deleted."
        ),
    ),
)

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
                run="State restarts empty. In update and complete mode, the newest values in "
                "{to} are too small until {name} has caught up.",
                undo="Before the undo, wait until {name} has caught up. Otherwise the newest "
                "value of a key in {to} stays wrong until the key's next row.",
                unless=(Fact.NEW_OUTPUTS,),
            ),
            replace(_STAYS, unless=frozenset({Fact.BACKED_UP, Fact.EMPTIED})),
            _REFILLS,
            says(
                Fact.EMPTIED,
                undo=(
                    "The old files of a file sink are restored, and new files move to backup. "
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
                run=("In each input, old and new records of a key may be in different partitions."),
                undo="Once partitions are added, an undo is blocked: Kafka can't remove "
                "partitions.",
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
                undo="The old files and `_spark_metadata` of a file sink are restored, and new "
                "files move to backup. A Delta or Iceberg table keeps the rows that were "
                "written since the run.",
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
            says(run=("A removed batch is reprocessed: its results may be written to {to} twice.")),
            _STAYS,
            says(
                undo=(
                    "The broken checkpoint is restored. If the query starts from it, results "
                    "since the run are written a second time."
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
                    "Consumers with isolation.level=read_committed never receive the records of "
                    "the aborted transaction. They receive later records."
                ),
                undo="An aborted transaction stays aborted.",
            ),
            says(
                undo=(
                    "The restored offsets are out of range. {name} then applies its "
                    "auto.offset.reset: it reprocesses or skips records."
                ),
                unless=(Fact.ABORTED,),
            ),
            says(undo="An undo doesn't roll back what {name} did since the run."),
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
                    "Files that a file sink wrote since the run move to backup. A Delta, Iceberg "
                    "or Hudi table drops batches that it has already recorded: restore it before "
                    "the undo."
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
            says(
                Fact.STATE_RESTORED,
                undo="State and offsets are restored: {name} continues with them.",
            ),
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
    ("bounded", _SPARK): Declared(
        statements=(
            _ONCE,
            says(
                run="Results of the unread records are written to {to}, as in normal operation. If "
                "a batch is interrupted, its results may be written twice."
            ),
            _STAYS,
            _SAME_AGAIN,
            _DROPPED,
        )
    ),
    ("bounded", _STREAMS): Declared(
        statements=(
            _ONCE,
            says(
                run="Results of the unread records are written to {to}, as in normal operation.",
                undo="Offsets and state are kept as they are after the run. No record is "
                "processed twice.",
            ),
            _STAYS,
        )
    ),
    ("bounded", _GROUP): Declared(
        statements=(
            _ONCE,
            says(run="{name} processes the unread records, as in normal operation."),
            _DONE_STAYS,
        )
    ),
    ("dead-letters", _SPARK): Declared(statements=_REDRIVE),
    ("dead-letters", _STREAMS): Declared(statements=_REDRIVE),
    ("dead-letters", _GROUP): Declared(statements=_REDRIVE),
    ("ab", _SPARK): Declared(
        statements=(
            says(run="The outputs of {name} don't change: results go to folders of their own."),
            says(undo="An undo deletes both results. The outputs of {name} don't change."),
        ),
        remains=False,
    ),
    ("historical-range", _SPARK): Declared(
        statements=(
            says(run="The outputs of {name} don't change: results go to a folder of their own."),
            says(undo="An undo removes the new results. The outputs of {name} don't change."),
        ),
        remains=False,
    ),
}
"""Every scenario and engine that a plan with steps exists for, the reset command's among them."""

UNDONE = "An undo can't be undone. Plan the scenario again instead."
BEHIND = (
    "{name} still has at least {count} records to reprocess. If you undo now, the newest values "
    "of their keys stay wrong in the outputs. Wait until {name} has caught up."
)
UNSTATED = "Output written since the run is kept: an undo doesn't delete or correct it."


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
