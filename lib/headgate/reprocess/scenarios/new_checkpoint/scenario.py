"""New checkpoint: a new version begins exactly where the old one stopped, without its state."""

from __future__ import annotations

from pathlib import PurePosixPath

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT, KAFKA_OR_FILES, PASSES_LOCATION
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.source_offsets import QueryPosition
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.shared.new_output import OPTIONS as NEW_OUTPUT
from headgate.reprocess.scenarios.shared.source_mapping import given_takes, matched_takes
from headgate.reprocess.scenarios.shared.start_from_offsets import (
    StartRequest,
    found_query,
    start_from_offsets,
)
from headgate.reprocess.steps import ExportState
from headgate.reprocess.steps.checkpoint.source_succession import CARRY, Take


def build(request: PlanRequest) -> Plan:
    """Return the plan; the old checkpoint is set aside, or stays where it is with `--to`."""
    found = found_query(request)
    if isinstance(found, Plan):
        return found
    checkpoint, position = found
    takes: tuple[Take, ...]
    if rows := request.options.get("source", ()):
        (takes, risks), blockers = given_takes(rows, position, request.version), list[str]()
    else:
        takes, blockers, risks = matched_takes(position, request.version)
    folder = request.options.get("export-state")
    wish = StartRequest(
        target=CARRY,
        before=_export(request, checkpoint, folder),
        takes=takes,
        to=request.options.get("to"),
        rehearse=request.options.get("rehearse", False),
        new_output=request.options.get("new-output", False),
        blockers=(*blockers, *_export_blockers(position, folder)),
        risks=(*risks, *_export_risks(folder)),
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
        return ["--export-state: the query has no state"]
    return []


def _export_risks(folder: str | None) -> list[str]:
    if folder is None:
        return []
    return [
        "Spark takes no state into a new query by itself: the new version must be a"
        f" transformWithState that is given spark.read.parquet('{folder}/operator-0') grouped by"
        " its key columns as initialState, and whose handleInitialState takes each row; it is read"
        " in the first batch alone, so this version must be the one that is started",
    ]


OPTIONS = (
    Option(
        name="to",
        ask="To which new location?",
        help="Make the new checkpoint here and leave the old one where it is: an absolute path.",
        metavar="LOCATION",
    ),
    Option(
        name="source",
        ask="Which source of the new version takes over which of the old one?",
        help="By place or name: 0=1, orders=0, 0=0,1 (both become one), 2=new; again for more.",
        kind=Kind.MANY,
        metavar="NEW=OLD",
    ),
    Option(
        name="rehearse",
        ask="Shall the new version be rehearsed there first?",
        help="Start the registered entry point on a copy of the new checkpoint, for one batch whose"
        " output goes nowhere; refused unless Spark gets through it.",
        kind=Kind.FLAG,
    ),
    Option(
        name="export-state",
        ask="Into which folder shall the old state be written?",
        help="Write the old state as Parquet, to be the new version's initial state; an absolute"
        " path of a folder that is not there.",
        metavar="FOLDER",
    ),
    *NEW_OUTPUT,
)

SCENARIO = Scenario(
    name="new-checkpoint",
    title="New checkpoint at the old offsets",
    what="Let an incompatible new version begin exactly where the old one stopped, with no state.",
    build=build,
    options=OPTIONS,
    support={
        Engine.SPARK: needs(
            CHECKPOINT,
            KAFKA_OR_FILES,
            PASSES_LOCATION,
            note=(
                "The new version begins without state. State of transformWithState can be exported;"
                " the new code must read it as its initial state."
            ),
        ),
        Engine.CONSUMER_GROUP: refused(
            "a consumer group's offsets are not bound to a version: it goes on where it is, and"
            " from-point with --from-group gives another group the same place"
        ),
        Engine.KAFKA_STREAMS: refused(
            "records on their way in repartition topics belong to the old version: from-scratch"
            " reads everything again, from-point begins both versions at one place"
        ),
    },
)
