"""Check the output that a new version is said to write to against what is known of the old one."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.errors import HeadgateError
from headgate.model.sinks import BatchIds, is_one_location, is_within
from headgate.model.version import Engine
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.evidence import Output
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.reprocess.steps.process.verify_output import VerifyOutput
from headgate.text.risk import Risk

_SPARK = frozenset({Engine.SPARK})
STORED = "the stored version"
OPTIONS = (
    Option(
        name="new-output",
        ask="The new version writes to a new folder",
        help="Pass this if you have made the file sink of the new version write to a new folder.",
        kind=Kind.FLAG,
        engines=_SPARK,
    ),
    Option(
        name="output-path",
        ask="New output folder",
        help=(
            "New folder of the file sink. The plan checks this folder, and the run verifies "
            "that the query writes to it."
        ),
        metavar="FOLDER",
        engines=_SPARK,
        after=("new-output",),
    ),
)


def known_outputs(request: PlanRequest, query_id: str | None) -> tuple[Output, ...]:
    """Return where the query is known to write, by stored version, evidence and watch."""
    sink = request.version.sink if request.version else None
    stored = (Output(place=sink.place, told_by=STORED),) if sink and sink.place else ()
    name, inspector = request.pipeline.name, request.inspector
    seen = inspector.evidence.outputs(name, query_id) if query_id else ()
    return (*stored, *inspector.evidence.outputs(name), *seen)


def output_blockers(request: PlanRequest, found: Checkpoint) -> list[str]:
    """Return what contradicts the new folder; a sink that drops no numbers needs none."""
    path = request.options.get("output-path")
    if path is None:
        if request.options.get("new-output") and _drops(request):
            return ["--new-output: also pass the new folder with --output-path"]
        return []
    if not request.options.get("new-output"):
        return ["--output-path needs --new-output"]
    return list(dict.fromkeys(_contradictions(request, found, path)))


FOLDER_UNCHECKED = Risk(
    "Headgate can't check the folder {folder} (--output-path). If the folder has the "
    "`_spark_metadata` of an earlier query, Spark drops the output of all batches in this "
    "log. Use an empty folder. Cause: {error}"
)


def output_risks(request: PlanRequest) -> list[str]:
    """Return what of the new folder can't be checked before the start."""
    path = request.options.get("output-path")
    if path is None:
        return []
    try:
        request.inspector.sinks.newest_batch(path)
    except HeadgateError as error:
        return [FOLDER_UNCHECKED(folder=path, error=error)]
    return []


def verify_output(
    request: PlanRequest, found: Checkpoint, checkpoint: str
) -> tuple[VerifyOutput, ...]:
    """Return the step that looks, after the start, where the query writes."""
    path = request.options.get("output-path")
    if path is None:
        return ()
    step = VerifyOutput(
        pipeline=request.pipeline.name,
        checkpoint=checkpoint,
        new=(path,),
        folder=path,
        old=tuple(dict.fromkeys(o.place for o in known_outputs(request, found.query_id))),
    )
    return (step,)


def _drops(request: PlanRequest) -> bool:
    sink = request.version.sink if request.version else None
    return sink is None or sink.traits.batch_ids in (BatchIds.DROPS, BatchIds.UNKNOWN)


def _contradictions(request: PlanRequest, found: Checkpoint, path: str) -> Iterator[str]:
    name = request.pipeline.name
    for output in known_outputs(request, found.query_id):
        if is_one_location(path, output.place):
            yield (
                f"--output-path: {path} is the old output of {name} (source: {output.told_by}). "
                "Choose another folder"
            )
    if is_within(path, found.location):
        yield (
            f"--output-path: {path} is inside the checkpoint {found.location}. Choose another "
            "folder"
        )
    for source in (request.version.sources if request.version else None) or ():
        read = source.path or source.options.get("path")
        if read and (is_within(path, read) or is_within(read, path)):
            yield (
                f"--output-path: {name} reads {read}, so it would read its own output in {path}. "
                "Choose another folder"
            )
    try:
        batch = request.inspector.sinks.newest_batch(path)
    except HeadgateError:
        return
    if batch is not None:
        yield (
            f"--output-path: {path}/_spark_metadata has batches up to {batch}, and a file sink "
            "skips batches that are in its log. Choose a folder without `_spark_metadata`"
        )
