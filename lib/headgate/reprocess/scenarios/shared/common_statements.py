"""Statements on outputs that several scenarios share; `output_statements` says which."""

from __future__ import annotations

from dataclasses import replace

from headgate.reprocess.output_effects import Fact, says

STAYS = says(
    undo="An undo doesn't delete or correct what was written to {to} after the run started."
)
TWICE = says(
    Fact.REPROCESSES,
    run="Results are written to {to} a second time. Consumers get duplicates, unless they "
    "overwrite by key.",
    unless=(Fact.NEW_OUTPUTS,),
)
MISSING = says(Fact.SKIPS, run="The results of the skipped records are missing in {to}.")
ONCE = says(
    run="No record is reprocessed or skipped.",
    unless=(Fact.REPROCESSES, Fact.SKIPS),
)
ONLY = says(run="All records outside the skipped range are processed as before.")
EMPTIES = says(
    Fact.EMPTIED, run="The contents of {to} are removed first, then rebuilt from the inputs."
)
GONE = says(
    Fact.EMPTIED,
    undo="An undo can't restore deleted records, unless you make this plan with --back-up-outputs.",
    unless=(Fact.BACKED_UP,),
)
REFILLS = says(
    Fact.BACKED_UP,
    undo=(
        "An undo deletes the new records in {to} and restores the old records, with new offsets."
    ),
)
NEW = says(
    Fact.NEW_OUTPUTS,
    run="Results are written to new outputs. The old outputs don't change.",
    undo="An undo keeps the new outputs, but doesn't copy their results to the old outputs.",
)

# A Spark query whose undo restores a checkpoint of before.
SAME_AGAIN = says(
    undo=(
        "The query resumes after its last batch before the run. Results since then are written a "
        "second time."
    ),
)
# A Spark query whose undo moves the new files of its file sink to backup.
FILES_BACK = says(
    Fact.FILES_BACK,
    undo=(
        "An undo moves all files that were written to {to} since the run to a backup folder. The "
        "query resumes after its last batch before the run. Consumers that have read the moved "
        "files get their results a second time."
    ),
)
OLD_FILES = says(
    Fact.FILES_BACK, undo="An undo restores the old files and `_spark_metadata` of {to}."
)
FILES_STAY = (
    replace(STAYS, unless=frozenset({Fact.FILES_BACK})),
    replace(SAME_AGAIN, unless=frozenset({Fact.FILES_BACK})),
    FILES_BACK,
)
DROPPED = (
    says(
        Fact.BY_BATCH,
        undo=(
            "After the undo, the query uses batch numbers of the run again. The sink silently "
            "drops batch numbers that it has already recorded. Before the undo, restore {to} to "
            "its state before the run."
        ),
        unless=(Fact.DELTA,),
    ),
    # RESTORE keeps what a query has recorded (delta-io/delta#1813).
    says(
        Fact.DELTA,
        undo=(
            "After the undo, the query uses batch numbers of the run again. The Delta table "
            "silently drops batch numbers that it has already recorded, even after a RESTORE. To "
            "write the dropped results, rewind {name} with --new-query-id after the undo."
        ),
    ),
)
# A Spark query that writes on with the batch numbers of before.
REPEATED = (replace(SAME_AGAIN, unless=frozenset({Fact.BY_BATCH})), *DROPPED)
RESUMES = says(run="Only results of an uncommitted batch are written twice.")

# A Kafka Streams application whose inputs begin at another place.
RESTARTS = says(
    Fact.STATE_GONE,
    run="The state starts empty. Until {name} has caught up, the newest counts and window results "
    "in {to} are too small.",
    unless=(Fact.NEW_OUTPUTS,),
)
TOO_SMALL = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Counts and results of windows that began before {point} are too small, because earlier "
    "records are missing. They overwrite correct results in {to} and stay wrong.",
    unless=(Fact.NEW_OUTPUTS,),
)
REMEDY = says(
    Fact.STATE_GONE,
    Fact.CUT,
    run="Only from-scratch corrects these windows and counts, if all records are still in the "
    "inputs.",
    unless=(Fact.NEW_OUTPUTS,),
)
TOO_SMALL_NEW = says(
    Fact.STATE_GONE,
    Fact.CUT,
    Fact.NEW_OUTPUTS,
    run="In the new outputs, windows and counts that began before {point} lack earlier records and "
    "are too small.",
)
TOO_LARGE = says(
    Fact.STATE_KEPT,
    Fact.REPROCESSES,
    run="The state is kept, so reprocessed records count twice. Results that are too large "
    "overwrite correct results in {to}.",
)
NOT_YET = says(
    Fact.STATE_GONE,
    undo="Before the undo, wait until {name} has caught up. Otherwise the newest value of a key "
    "in {to} stays wrong until the key's next record. Closed windows stay wrong.",
    unless=(Fact.NEW_OUTPUTS, Fact.BACKED_UP),
)
RESTORED = says(
    Fact.STATE_RESTORED,
    undo="State and offsets are restored. The next record of a key corrects the key's result.",
)
EMPTY_STATE = says(
    Fact.STATE_GONE,
    undo="The state isn't restored. Counts and windows restart from zero at the old offsets. "
    "Their values are too small, and overwrite correct results in {to}.",
    unless=(Fact.STATE_RESTORED,),
)
STATE_OF_RUN = says(
    Fact.STATE_KEPT,
    undo=(
        "The state isn't restored, so records processed since the run count twice. Results that "
        "are too large overwrite correct results in {to}."
    ),
)
AFTER_RESET = says(
    undo="Results of records after the old offsets are written to {to} a second time.",
)
STREAMS_RESET = (
    *(ONCE, TWICE, MISSING, EMPTIES, NEW),
    *(RESTARTS, TOO_SMALL, TOO_SMALL_NEW, TOO_LARGE),
    *(GONE, REFILLS, NOT_YET, RESTORED, EMPTY_STATE, STATE_OF_RUN, AFTER_RESET),
    replace(STAYS, unless=frozenset({Fact.BACKED_UP})),
)

# A consumer group: what it does with a record is all that Headgate can call its output.
DONE_TWICE = says(
    Fact.REPROCESSES,
    run="{name} processes records a second time. Consumers of its results get duplicates.",
)
DONE_ANEW = says(
    Fact.REPROCESSES,
    Fact.RECREATED,
    run="{name} processes all records of each recreated topic. If it has already read some of "
    "them, it processes these a second time.",
)
DONE_STAYS = says(
    undo=(
        "An undo doesn't roll back what {name} did since the run. After the undo, {name} resumes "
        "at the old offsets, and processes the records after them a second time."
    ),
)
GROUP_MOVE = (ONCE, DONE_TWICE, MISSING, EMPTIES, NEW, GONE, REFILLS, DONE_STAYS)

BACK_TO_SWITCH = says(
    undo="The old version continues where it stopped at the switch. Results since then are "
    "written a second time."
)
REMOVED = says(run="Nothing in {to} changes.")
HELD = says(run="{name} writes nothing while it is paused.", unless=(Fact.RESUMED,))
GOES_ON = says(
    Fact.RESUMED,
    run="{name} resumes where it was paused. No result is lost.",
    undo="{name} is paused again. Output written since the resume is kept.",
)
AGAIN_IN_FLIGHT = says(
    Fact.RESTARTED,
    run=(
        "Records in flight at the stop are reprocessed after the next start. Their results may be "
        "written twice."
    ),
    unless=(Fact.RESUMED,),
)
LETS_GO = says(
    undo="{name} resumes where it was paused. No result is lost.",
    unless=(Fact.RESUMED,),
)
PAUSE = (HELD, GOES_ON, AGAIN_IN_FLIGHT, LETS_GO)

REDRIVE = (
    says(
        run="If {name} reads the target topic, it processes the redriven records like new "
        "records. Side effects of the first attempt may happen a second time.",
    ),
    says(
        run="Records stay in the dead letter topic. A later run redrives them again only with "
        "--again."
    ),
    says(
        undo=(
            "Records in an existing topic can't be removed. Only a retry topic that the run "
            "created is deleted."
        ),
    ),
)

SCHEDULED = (
    says(
        run="Each tick starts a bounded run, which writes the results of unread records. No "
        "record is skipped.",
    ),
    says(
        undo="An undo removes the schedule, or restores the earlier schedule. Output of earlier "
        "runs is kept.",
    ),
)

NEW_FORM = says(
    run="The new version continues at the old offsets. Results of both versions are in {to}."
)

CHAIN = (
    says(
        run="{name} writes the results since the target time to {to} a second time, after the old "
        "results."
    ),
    says(
        run="A downstream pipeline gets no duplicates if it skips the replaced records. These are "
        "results since the target time that were written before the run."
    ),
    says(
        undo="Offsets and checkpoints of all pipelines are restored. Deleted state of Kafka "
        "Streams applications is not restored."
    ),
    says(
        undo="Rewritten records stay in {to}. After an undo, downstream pipelines process them as "
        "duplicates."
    ),
)
