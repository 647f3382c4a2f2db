"""What every scenario and its undo do to outputs, declared once for all engines.

`build_plan` states what is true of a plan, `scripts/scenario_pages.py` writes all of it to the
docs. A scenario or engine without an entry fails
`tests/reprocess/scenarios/shared/test_output_statements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.model.registered_pipelines import Effects
from headgate.model.version import Engine
from headgate.reprocess.output_effects import Declared, Fact, OutputEffects, Statement, says
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common_statements as said
from headgate.reprocess.scenarios.shared.output_facts import facts_of, words_of
from headgate.text.risk import Risk

_SPARK, _STREAMS, _GROUP = Engine.SPARK, Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP


def _not_if_raised(one: Statement) -> Statement:
    """Return the statement; what it says of an undo is moot where that is blocked."""
    return replace(one, unless=one.unless | {Fact.RAISED}) if one.undo else one


STATEMENTS: Mapping[tuple[str, Engine], Declared] = {
    ("from-scratch", _SPARK): Declared(
        statements=(
            said.ONCE,
            said.TWICE,
            said.MISSING,
            said.EMPTIES,
            said.NEW,
            says(
                Fact.STATE_GONE,
                run="The state starts empty. In update and complete mode, the newest values in "
                "{to} lack earlier input until {name} has caught up.",
                undo="Before the undo, wait until {name} has caught up. Otherwise the newest "
                "value of a key in {to} stays wrong until the key's next row.",
                unless=(Fact.NEW_OUTPUTS,),
            ),
            replace(said.STAYS, unless=frozenset({Fact.BACKED_UP, Fact.EMPTIED})),
            replace(said.REFILLS, unless=frozenset({Fact.FILES_BACK})),
            replace(said.GONE, unless=frozenset({Fact.BACKED_UP, Fact.FILES_BACK})),
            said.OLD_FILES,
            said.FILES_BACK,
            replace(said.SAME_AGAIN, unless=frozenset({Fact.FILES_BACK})),
        )
    ),
    ("from-scratch", _STREAMS): Declared(statements=said.STREAMS_RESET),
    ("from-scratch", _GROUP): Declared(statements=said.GROUP_MOVE),
    ("from-point", _SPARK): Declared(
        statements=(said.ONCE, said.TWICE, said.MISSING, said.NEW, said.STAYS, said.SAME_AGAIN)
    ),
    ("from-point", _STREAMS): Declared(statements=(*said.STREAMS_RESET, said.REMEDY)),
    ("from-point", _GROUP): Declared(statements=said.GROUP_MOVE),
    (RESET, _STREAMS): Declared(statements=(*said.STREAMS_RESET, said.REMEDY)),
    ("new-checkpoint", _SPARK): Declared(
        statements=(
            says(
                run=(
                    "No record is skipped. The output of an uncommitted batch may be written a "
                    "second time."
                )
            ),
            said.NEW,
            said.STAYS,
            said.SAME_AGAIN,
        )
    ),
    ("repartition", _SPARK): Declared(statements=(said.RESUMES, said.STAYS, *said.REPEATED)),
    ("repartition", _STREAMS): Declared(
        statements=(
            *(_not_if_raised(s) for s in said.STREAMS_RESET),
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
            replace(said.TWICE, unless=frozenset()),
            said.ONCE,
            said.MISSING,
            said.OLD_FILES,
            *said.FILES_STAY,
        )
    ),
    ("offline-upgrade", _SPARK): Declared(
        statements=(said.NEW_FORM, said.RESUMES, said.STAYS, *said.REPEATED)
    ),
    ("online-upgrade", _SPARK): Declared(
        statements=(
            says(
                run="No result is lost. If the stop interrupts a batch, its results are written "
                "twice."
            ),
            said.STAYS,
            said.BACK_TO_SWITCH,
        )
    ),
    ("online-upgrade", _STREAMS): Declared(
        statements=(
            says(
                run="No result is lost. The run stops the new version first, then {name}. Results "
                "of records that {name} processes in between are written twice."
            ),
            said.STAYS,
            said.BACK_TO_SWITCH,
        )
    ),
    ("online-upgrade", _GROUP): Declared(
        statements=(
            says(
                run="No result is lost. Results that {name} writes after its last commit are "
                "written twice."
            ),
            said.STAYS,
            said.BACK_TO_SWITCH,
        )
    ),
    ("offline-upgrade", _STREAMS): Declared(
        statements=(said.NEW_FORM, said.STAYS, said.AFTER_RESET, said.STATE_OF_RUN)
    ),
    ("offline-upgrade", _GROUP): Declared(statements=(said.NEW_FORM, said.DONE_STAYS)),
    ("repair", _SPARK): Declared(
        statements=(
            replace(said.ONCE, unless=frozenset({Fact.REPROCESSES})),
            says(
                Fact.REPROCESSES,
                run="A removed batch is reprocessed: its results may be written to {to} twice.",
            ),
            said.STAYS,
            says(undo="The broken checkpoint is restored."),
            says(
                undo="If the query starts from the broken checkpoint, results since the run are "
                "written a second time.",
                unless=(Fact.BY_BATCH,),
            ),
            *said.DROPPED,
        )
    ),
    ("repair", _GROUP): Declared(
        statements=(
            replace(said.ONCE, unless=said.ONCE.unless | {Fact.ABORTED}),
            replace(said.DONE_TWICE, unless=frozenset({Fact.RECREATED})),
            said.DONE_ANEW,
            said.MISSING,
            says(
                Fact.ABORTED,
                run=(
                    "Consumers with isolation.level=read_committed never receive the records of "
                    "an aborted transaction. They do receive the records after it."
                ),
                undo="An aborted transaction stays aborted.",
            ),
            says(
                undo=(
                    "An undo restores the offsets from before the repair, which are out of range. "
                    "{name} then applies its auto.offset.reset: it reprocesses or skips records."
                ),
                unless=(Fact.ABORTED,),
            ),
            says(undo="An undo doesn't roll back what {name} did since the run."),
        )
    ),
    ("skip-records", _SPARK): Declared(
        statements=(
            said.ONLY,
            said.MISSING,
            replace(said.STAYS, unless=frozenset({Fact.FILES_BACK})),
            said.FILES_BACK,
            *(replace(s, unless=s.unless | {Fact.FILES_BACK}) for s in said.REPEATED),
        )
    ),
    ("skip-records", _STREAMS): Declared(
        statements=(said.ONLY, said.MISSING, said.STAYS, said.AFTER_RESET, said.STATE_OF_RUN)
    ),
    ("skip-records", _GROUP): Declared(statements=(said.ONLY, said.MISSING, said.DONE_STAYS)),
    ("decommission", _SPARK): Declared(
        statements=(
            said.REMOVED,
            says(undo="Nothing in {to} changes. The old checkpoint is restored."),
        ),
        remains=False,
    ),
    ("decommission", _STREAMS): Declared(
        statements=(
            said.REMOVED,
            says(undo="Nothing in {to} changes until {name} starts again."),
            says(
                Fact.STATE_RESTORED,
                undo="State and offsets are restored: {name} continues with them.",
            ),
            said.EMPTY_STATE,
        ),
        remains=False,
    ),
    ("decommission", _GROUP): Declared(
        statements=(
            said.REMOVED,
            says(undo="Nothing in {to} changes. {name} continues at its old offsets."),
        ),
        remains=False,
    ),
    ("pause", _SPARK): Declared(statements=said.PAUSE, remains=False),
    ("pause", _STREAMS): Declared(statements=said.PAUSE, remains=False),
    ("pause", _GROUP): Declared(statements=said.PAUSE, remains=False),
    ("bounded", _SPARK): Declared(
        statements=(
            said.ONCE,
            says(
                run="Results of the unread records are written to {to}, as in normal operation. If "
                "a batch is interrupted, its results may be written twice."
            ),
            said.STAYS,
            *said.REPEATED,
        )
    ),
    ("bounded", _STREAMS): Declared(
        statements=(
            said.ONCE,
            says(
                run="Results of the unread records are written to {to}, as in normal operation.",
                undo="Offsets and state are kept as they are after the run. No record is "
                "processed twice.",
            ),
            said.STAYS,
        )
    ),
    ("bounded", _GROUP): Declared(
        statements=(
            said.ONCE,
            says(run="{name} processes the unread records, as in normal operation."),
            said.DONE_STAYS,
        )
    ),
    **{("incremental", engine): Declared(statements=said.SCHEDULED) for engine in Engine},
    ("dead-letters", _SPARK): Declared(statements=said.REDRIVE),
    ("dead-letters", _STREAMS): Declared(statements=said.REDRIVE),
    ("dead-letters", _GROUP): Declared(statements=said.REDRIVE),
    ("chain", _SPARK): Declared(statements=said.CHAIN),
    ("chain", _STREAMS): Declared(statements=said.CHAIN),
    ("chain", _GROUP): Declared(statements=said.CHAIN),
    ("ab", _SPARK): Declared(
        statements=(
            says(
                run="The outputs of {name} don't change: the results of this run go to new folders."
            ),
            says(
                undo="An undo deletes the results of both versions. The outputs of {name} don't "
                "change."
            ),
        ),
        remains=False,
    ),
    ("late-batch", _SPARK): Declared(
        statements=(
            says(run="{name} keeps running. The run changes only the folder or table in --to."),
            says(undo="An undo restores the earlier results in the folder or table in --to."),
        ),
        remains=False,
    ),
    ("historical-range", _SPARK): Declared(
        statements=(
            says(
                run="{name} keeps running. The run writes only to --to, and to the dead letter "
                "topic in --failing-to."
            ),
            says(undo="An undo changes only the folder, topic or table in --to."),
        ),
        remains=False,
    ),
}
"""Every scenario and engine that has plans with steps, and the reset command."""

UNDONE = "An undo can't be undone. Plan the scenario again instead."
BEHIND = (
    "Records that {name} still has to reprocess: at least {count}. The newest results of their "
    "keys are incomplete, and stay incomplete after an undo. Before the undo, wait until {name} "
    "has caught up."
)
EXTERNAL = Risk(
    '{name} has effects outside of Kafka (`effects = "external"`). These effects happen again '
    "for reprocessed records. Before the run, disable the effects or make them idempotent",
    name="PIPELINE",
)
UNSTATED = "An undo doesn't delete or correct what was written after the run started."


def with_statements(request: PlanRequest, plan: Plan) -> Plan:
    """Return the plan with what is declared of its scenario; one without steps does nothing.

    A pipeline that has effects outside of Kafka gets a risk if records are reprocessed.
    """
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
        remains=(declared.remains and Fact.FILES_BACK not in facts) or Fact.RESUMED in facts,
    )
    risks = plan.risks
    if Fact.REPROCESSES in facts and request.pipeline.effects is Effects.EXTERNAL:
        risks = (*risks, EXTERNAL(**words))
    return replace(plan, outputs=plan.outputs.joined(applier), risks=risks)
