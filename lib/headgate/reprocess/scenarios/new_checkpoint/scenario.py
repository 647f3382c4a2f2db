"""New checkpoint: a new version starts at the offsets of the old version, without its state."""

from __future__ import annotations

from pathlib import PurePosixPath

from headgate.model.version import Engine
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.conditions import CHECKPOINT, KAFKA_OR_FILES, PASSES_LOCATION
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.shared import source_mapping
from headgate.reprocess.scenarios.shared import start_from_offsets as shared_start
from headgate.reprocess.scenarios.shared.new_output import OPTIONS as NEW_OUTPUT
from headgate.reprocess.scenarios.shared.source_mapping import (
    deleted_risks,
    deleted_topics,
    given_takes,
    matched_takes,
)
from headgate.reprocess.scenarios.shared.start_from_offsets import (
    StartRequest,
    found_query,
    start_from_offsets,
)
from headgate.reprocess.steps.checkpoint.repartition_state import ExportState
from headgate.reprocess.steps.checkpoint.source_succession import CARRY, Take
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan; the old checkpoint moves to backup, or stays where it is with `--to`."""
    found = found_query(request)
    if isinstance(found, Plan):
        return found
    checkpoint, position = found
    takes: tuple[Take, ...]
    deleted = deleted_topics(request.inspector, position, request.version)
    if rows := request.options.get("source", ()):
        blockers = list[str]()
        takes, risks = given_takes(rows, position, request.version, deleted)
    else:
        takes, blockers, risks = matched_takes(position, request.version, deleted)
    folder = request.options.get("export-state")
    wish = StartRequest(
        target=CARRY,
        before=_export(request, checkpoint, folder),
        takes=takes,
        to=request.options.get("to"),
        rehearse=request.options.get("rehearse", False),
        new_output=request.options.get("new-output", False),
        blockers=(*blockers, *_export_blockers(position, folder)),
        risks=(*risks, *deleted_risks(deleted), *_export_risks(folder)),
    )
    return start_from_offsets(request, checkpoint, position, wish)


def _export(request: PlanRequest, found: Checkpoint, folder: str | None) -> tuple[ExportState, ...]:
    if folder is None:
        return ()
    step = ExportState(
        pipeline=request.pipeline.name,
        checkpoint=found.location,
        query_id=found.query_id,
        folder=folder,
    )
    return (step,)


def _export_blockers(position: QueryPosition, folder: str | None) -> list[str]:
    if folder is None:
        return []
    if not PurePosixPath(folder).is_absolute():
        return [f"--export-state: expected an absolute path, found {folder!r}"]
    if not position.operators:
        return ["--export-state: omit this option, because the query has no state"]
    return []


EXPORTED_STATE = Risk(
    "to use the exported state, the new version must pass "
    "spark.read.parquet('{folder}/operator-0') (0 is the number of the old operator), grouped "
    "by the key columns, to transformWithState as initialState. The processor's "
    "handleInitialState must accept each row. Spark reads the initial state only in the first "
    "batch, so the first start must use this version"
)


def _export_risks(folder: str | None) -> list[str]:
    if folder is None:
        return []
    return [
        EXPORTED_STATE(folder=folder),
    ]


OPTIONS = (
    Option(
        name="to",
        ask="Location of the new checkpoint",
        help="Absolute path of the new checkpoint; the old checkpoint then stays unchanged "
        "(default: the new checkpoint replaces the old checkpoint).",
        metavar="LOCATION",
    ),
    Option(
        name="source",
        ask="Old source of each new source",
        help=(
            "Old source that a new source continues, as NEW=OLD by number or name: 0=1, orders=0, "
            "0=0,1 (merges two), 2=new (continues none). Can be repeated."
        ),
        kind=Kind.MANY,
        metavar="NEW=OLD",
    ),
    Option(
        name="rehearse",
        ask="Rehearse the new version first",
        help="Rehearse one batch of the registered entry point on a copy of the new checkpoint, "
        "without output. If the rehearsal fails, the run fails.",
        kind=Kind.FLAG,
    ),
    Option(
        name="export-state",
        ask="Folder for the exported state",
        help=(
            "Export the old state as Parquet to this folder (an absolute path that doesn't exist "
            "yet). The new version can read it as its initial state."
        ),
        metavar="FOLDER",
    ),
    *NEW_OUTPUT,
)

SCENARIO = Scenario(
    name="new-checkpoint",
    title="New checkpoint at the old offsets",
    short="Start a new version without the old state.",
    what=(
        "Start an incompatible new version at the offsets where the old version stopped, "
        "without state."
    ),
    build=build,
    steps=(
        "create_checkpoint",
        "create_remote_checkpoint",
        "stop_pipeline",
        "verify_output",
        "snapshot_checkpoint",
        "switch_checkpoint",
        "start_at_checkpoint",
        "start_pipeline",
        "manual_step",
        "install_new_checkpoint",
        "swap_new_checkpoint",
        "export_state",
        "rehearse_new_checkpoint",
    ),
    risks=lambda: (*source_mapping.RISKS, *shared_start.RISKS, EXPORTED_STATE),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(
            CHECKPOINT,
            KAFKA_OR_FILES,
            PASSES_LOCATION,
            note=(
                "The new version starts without state. Headgate can export the state of "
                "transformWithState, and the new version can read it as its initial state."
            ),
        ),
        Engine.CONSUMER_GROUP: refused(
            "a new version of a consumer group continues at the group's offsets without this "
            "scenario. To copy the offsets to another group, use from-point with --from-group"
        ),
        Engine.KAFKA_STREAMS: refused(
            "a new version with another application id doesn't read the records in the old "
            "version's repartition topics, so these records would be lost. Use from-scratch to "
            "reprocess everything, or from-point to start the new version at an offset or time"
        ),
    },
)
