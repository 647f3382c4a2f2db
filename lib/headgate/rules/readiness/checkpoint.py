"""Where a Spark query keeps its checkpoint, and how far back that reaches."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.sinks import normal_path
from headgate.model.spark_settings import DEFAULT_RETAINED, RETAINED
from headgate.model.version import Engine, Version
from headgate.rules.core.source_names import location, option
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import span, span_ms
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.event_time import output_mode

FEW_BATCHES = 10
SHORT_MS = 3_600_000
"""One hour: a faulty deployment is seldom noticed earlier."""
_FILE_SYSTEM = "spark.hadoop.fs.defaultFS"
_GUIDE = "Spark documentation: Structured Streaming programming guide, Recovering from Failures"
_TEMPORARY = re.compile(r"^(/private)?(/var)?/tmp/|^/var/folders/|/temporary-[0-9a-f]{8}-")
_SCHEME = re.compile(r"^(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]+):")
_MOVE = (
    "Stop the query. Copy the whole checkpoint folder to {to}, and compare the copy with the "
    "original. Start the query with the new checkpointLocation: it resumes from its last batch."
)


@rule("RDY030", _GUIDE, Engine.SPARK, severities=(Severity.HIGH,), remedies=(_MOVE,))
def temporary_checkpoint(s: Subject) -> Iterator[Problem]:
    """Restarts and clean-up jobs delete the files in folders for temporary files.

    Without its checkpoint, the query loses its offsets and all of its state.
    """
    folder = s.checkpoint_path
    if folder and is_local(folder, s.version) and _TEMPORARY.search(normal_path(folder)):
        yield Problem(
            severity=Severity.HIGH,
            what=f"The checkpoint is in a folder for temporary files: {folder}.",
            remedy=_MOVE.format(to="durable storage"),
            keeps_state=True,
        )


_IS_THIS_PATH = "Is this path on a shared volume that every machine mounts and that is backed up?"


@rule(
    "RDY031",
    _GUIDE,
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_MOVE,),
    questions=(_IS_THIS_PATH,),
)
def local_checkpoint(s: Subject) -> Iterator[Problem]:
    """A checkpoint on a machine's own disk is lost with the machine.

    A driver or executor that starts on another machine doesn't find it. The query then starts from
    batch 0, without its state.
    """
    folder = s.checkpoint_path
    if folder and is_local(folder, s.version) and not _TEMPORARY.search(normal_path(folder)):
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"The checkpoint is on a local file system: {folder}.",
            remedy=_MOVE.format(to="an object store or a distributed file system"),
            keeps_state=True,
            question=_IS_THIS_PATH,
        )


def is_local(folder: str, version: Version) -> bool:
    """Whether an address is certainly on a machine's own file system.

    A path without a scheme is on the file system that the session has for default.
    """
    found = _SCHEME.match(folder)
    if found is None:
        default = version.settings.get(_FILE_SYSTEM, "")
        return bool(default.startswith("file:") or (_TEMPORARY.search(folder) and not default))
    return found["scheme"].lower() == "file"


@rule(
    "RDY032",
    (
        "measured on Spark 4.2.0 (log of the file sink); the rest is a recommendation of Headgate, "
        "not measured"
    ),
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_MOVE,),
)
def checkpoint_inside_data_folder(s: Subject) -> Iterator[Problem]:
    """The checkpoint and the data share a folder.

    If somebody deletes, moves, compacts or expires the data, the checkpoint is affected too, and
    vice versa. Consumers of the data folder find checkpoint files in it.
    """
    own = s.checkpoint_path
    if not own:
        return
    for node, what, path in _folders(s.version):
        if _parts(own) == _parts(path):
            said = f"The checkpoint and {what} are the same folder: {own}."
        elif _within(own, path):
            said = f"The checkpoint {own} is inside {what} {path}."
        elif _within(path, own):
            said = f"{what[0].upper()}{what[1:]} {path} is inside the checkpoint {own}."
        else:
            continue
        yield Problem(
            severity=Severity.HIGH,
            location=node,
            what=said,
            remedy=_MOVE.format(to="a folder outside the data"),
            keeps_state=True,
        )


def _folders(version: Version) -> Iterator[tuple[str | None, str, str]]:
    """Yield (node, what it is, path) of the folders that the query writes or reads."""
    sink = version.sink
    target = sink.place if sink else None
    if sink and target and sink.format not in ("kafka", "memory") and "/" in target:
        yield sink.node, "the sink's folder", target
    for source in version.sources or ():
        if path := (location(source) if source.format != "kafka" else None):
            yield source.node, "a source's folder", option(source, "path") or path


def _within(inner: str, outer: str) -> bool:
    """Whether one folder is in another one of the same file system, or is that one."""
    one, other = _parts(inner), _parts(outer)
    if one[0] and other[0] and one[0] != other[0]:
        return False
    return one[1] == other[1] or one[1].startswith(other[1].rstrip("/") + "/")


def _parts(address: str) -> tuple[str, str]:
    """Return scheme with authority, and the path; `file` where there is none is left open."""
    found = re.match(r"^([a-zA-Z][\w+.-]*):(?://([^/]*))?(/.*)?$", address)
    if found is None:
        return "", posixpath.normpath(address)
    return f"{found[1].lower()}:{found[2] or ''}", posixpath.normpath(found[3] or "/")


_SET_TO_THE_TIME = (
    f"Increase {RETAINED}, so that the kept batches cover the time until you notice a fault"
)
_GROWS = (
    "The checkpoint doesn't pin this setting: a new value applies from the next start. Each "
    "additional batch adds its state changes to the checkpoint. With a longer trigger interval, "
    "the same number of batches covers more time."
)
_FOR_SOME_TIME = f"{_SET_TO_THE_TIME}. {_GROWS}"
_FOR_A_DAY = f"{_SET_TO_THE_TIME}. To cover one day, keep {{batches:,}} batches. {_GROWS}"


@rule(
    "RDY033",
    "measured on Spark 4.2.0; Spark documentation: spark.sql.streaming.minBatchesToRetain",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_FOR_SOME_TIME, _FOR_A_DAY),
)
def short_rewind_window(s: Subject) -> Iterator[Problem]:
    """The checkpoint keeps offsets and state only for its newest batches.

    To roll back a faulty deployment without a replay, you need a batch from before the deployment.
    """
    kept = _retained(s)
    if not s.stateful or kept is None:
        return
    interval = _interval(s)
    reach = kept * interval if interval else None
    if (reach is None and kept < FEW_BATCHES) or (reach is not None and reach < SHORT_MS):
        about = (
            f" (about {span(reach)}, with one batch every {span(interval)})"
            if reach and interval
            else ""
        )
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"The checkpoint keeps only its last {_batches(kept)}{about}.",
            remedy=_FOR_A_DAY.format(batches=-(-86_400_000 // interval))
            if interval
            else _FOR_SOME_TIME,
            keeps_state=True,
        )


def _batches(number: int) -> str:
    return "batch" if number == 1 else f"{number} batches"


def _retained(s: Subject) -> int | None:
    """Return how many batches are kept; None if neither settings nor a long log show it."""
    text = s.setting(RETAINED)
    if text is not None and text.isdecimal():
        return int(text)
    return DEFAULT_RETAINED if s.settings_known else None


def _interval(s: Subject) -> int | None:
    """Return the trigger's interval in ms, None where batches follow no clock."""
    trigger = s.version.trigger or {}
    return span_ms(str(trigger.get("processingTime") or "")) or None


_SET_TRIGGER_PROCESSINGTIME = (
    "Set trigger(processingTime=...) to the longest delay that consumers accept, or "
    "trigger(availableNow=True) for scheduled runs. You can change the trigger at any "
    "restart."
)


@rule(
    "RDY034",
    "a recommendation of Headgate, not measured",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_SET_TRIGGER_PROCESSINGTIME,),
)
def no_trigger(s: Subject) -> Iterator[Problem]:
    """Without a trigger, Spark starts a batch as soon as the previous one ends.

    Quiet hours create thousands of tiny batches, with many small files and requests to the object
    store. The batches that the checkpoint keeps then cover only a few minutes, so you can't rewind
    further.
    """
    captured = any(e.kind == EvidenceKind.CAPTURE for e in s.version.evidence)
    known = captured and output_mode(s.version) is not None and s.version.capture_error is None
    if known and s.version.trigger is None and s.version.sink is not None:
        yield Problem(
            severity=Severity.LOW,
            what="The query has no trigger.",
            remedy=_SET_TRIGGER_PROCESSINGTIME,
            keeps_state=True,
        )
