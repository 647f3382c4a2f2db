"""What the scenarios share whose checkpoint is on a remote file system.

There nothing is moved, linked or edited: the query switches to a new location, and the old one
stays.
"""

from __future__ import annotations

from itertools import count

from headgate.model.commands import WatchControl
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.checkpoint.switch_checkpoint import (
    StartAtCheckpoint,
    SwitchCheckpoint,
)
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.text.risk import Risk

VARIABLE = "HEADGATE_CHECKPOINT"


def new_place(inspector: Inspector, pipeline: Pipeline) -> str:
    """Return the declared checkpoint's path with the first free number: `PATH.2`, `PATH.3`, ..."""
    declared = (pipeline.declared or pipeline.checkpoint or "").rstrip("/")
    names = (f"{declared}.{number}" for number in count(2))
    return next(name for name in names if inspector.remote_checkpoints.is_free(name))


def switch_and_start(
    stop: StopPipeline, found: Checkpoint, place: str, *, fresh: bool, made: bool
) -> tuple[SwitchCheckpoint, StartAtCheckpoint]:
    """Return the steps that switch a stopped query to the new location and start it there.

    `made` says that a checkpoint was copied there, `fresh` that the query shows itself by a batch.
    """
    lead = SwitchCheckpoint(
        pipeline=stop.pipeline,
        checkpoint=found.location,
        query_id=found.query_id,
        place=place,
        made=made,
    )
    start = StartAtCheckpoint(
        pipeline=stop.pipeline,
        command=stop.start or "",
        stop=stop.command,
        has_status=stop.has_status,
        checkpoint=place,
        fresh=fresh,
        suspend=stop.suspend,
        reenable=stop.reenable,
        old=found.location,
    )
    return lead, start


def start_flaw(pipeline: Pipeline) -> str | None:
    """Return why its start can't be given another checkpoint, as a clause; None if it can."""
    start, call = pipeline.commands.start, pipeline.commands.calls.get("start")
    if start is None:
        return "no start command is registered"
    if isinstance(call, WatchControl):
        return (
            "the Spark driver starts the query, and Headgate can't switch the driver to another "
            "checkpoint. Register a start command"
        )
    passes = VARIABLE in (repr(call) if call is not None else start)
    return None if passes else "the registered start command doesn't contain this variable"


def blockers(pipeline: Pipeline) -> list[str]:
    """Block a start command that doesn't pass the checkpoint's location."""
    why = start_flaw(pipeline)
    if why is None:
        return []
    return [
        f"{pipeline.checkpoint} is on a remote file system, so a run switches the query to a new "
        f"location. The start command of {pipeline.name} must pass ${{{VARIABLE}}} as "
        f"checkpointLocation, but {why}"
    ]


START_ELSEWHERE = Risk(
    "after the run, everything that starts {pipeline} (scheduler, orchestrator, person) must "
    "use checkpoint {new_location}. If the query starts on the old checkpoint {old_location}, "
    "the query resumes at its offsets from before the run"
)


def risks(pipeline: Pipeline, found: Checkpoint, place: str) -> list[str]:
    """Say what else may start the query, and what stays."""
    return [
        START_ELSEWHERE(pipeline=pipeline.name, new_location=place, old_location=found.location),
        _stays(pipeline, found.location),
    ]


OLD_CHECKPOINT_STAYS = Risk(
    "Headgate keeps the old checkpoint {location} unchanged for an undo. The checkpoint uses "
    "disk space until you delete it",
    location="OLD_LOCATION",
)
OLD_CHECKPOINT_STAYS_FOR_UNDO = Risk(
    "Headgate keeps the old checkpoint {location} unchanged for an undo, until it deletes the "
    "snapshots of this run (`keep_snapshots` under [runs] in headgate.toml)",
    location="OLD_LOCATION",
)


def _stays(pipeline: Pipeline, place: str) -> str:
    """Say how long the old checkpoint uses disk space; one of a run goes with its snapshots."""
    if place.rstrip("/") == (pipeline.declared or pipeline.checkpoint or "").rstrip("/"):
        return OLD_CHECKPOINT_STAYS(location=place)
    return OLD_CHECKPOINT_STAYS_FOR_UNDO(location=place)


RISKS = (
    START_ELSEWHERE,
    OLD_CHECKPOINT_STAYS,
    OLD_CHECKPOINT_STAYS_FOR_UNDO,
)
