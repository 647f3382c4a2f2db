"""Check a checkpoint's metadata, its offset log and its commit log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.parse.spark.checkpoint.offset_log import OffsetLog
from headgate.reprocess.checkpoint.files import UNREADABLE, CheckpointFiles, Edit
from headgate.reprocess.checkpoint.issue import CheckpointIssue, Known
from headgate.reprocess.checkpoint.source_log_issues import entries_beyond, foreign_files
from headgate.text.json_text import read_json
from headgate.text.numbers import plural
from headgate.text.risk import Risk

_UUID, _UUID_LENGTH = re.compile(r"[0-9a-fA-F]+(-[0-9a-fA-F]+){4}"), 36
_SHUFFLE = "spark.sql.shuffle.partitions"
_STATE_IDS = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def metadata(found: CheckpointFiles, known: Known) -> CheckpointIssue | None:
    """Check the file `metadata`: it holds the query's id, by which sinks identify its batches."""
    fault = "can't be read"
    try:
        id = read_json(found.files["metadata"])["id"]
        if _is_uuid(str(id)):
            return None
        if id:
            fault = f"has the id {id!r}, which isn't a UUID"
    except UNREADABLE:
        pass
    if not (found.logged or found.committed):
        return None
    what = f"`metadata` {fault}, so the query fails to start"
    if "metadata" not in found.names:
        what = (
            "`metadata` is missing, so the query fails to start (Spark 4.2 or later) or starts "
            "with another query id (earlier versions)"
        )
    if known.query_id is None:
        return CheckpointIssue(
            code="metadata",
            what=f"{what}. No stored version has the query id",
            instead="Pass the `id` from the query's progress or logs with --query-id",
            scenario="new-checkpoint",
        )
    text = json.dumps({"id": known.query_id}, separators=(",", ":"))
    return CheckpointIssue(code="metadata", what=what, edits=(Edit(path="metadata", text=text),))


def _is_uuid(text: str) -> bool:
    """Whether `java.util.UUID.fromString` reads it: it takes shorter groups than it writes."""
    return _UUID.fullmatch(text) is not None and len(text) <= _UUID_LENGTH


TORN_COMMIT = Risk(
    "batch {batch} is reprocessed: a sink that isn't idempotent, such as Kafka, gets duplicates",
    batch="N",
)


def torn_commit(found: CheckpointFiles, _known: Known) -> CheckpointIssue | None:
    """Find a newest commit that wasn't fully written: its batch counts as uncommitted."""
    last = found.last_commit
    if last is None or not found.is_torn(f"commits/{last}"):
        return None
    what = f"`commits/{last}` can't be read"
    if _has_state_ids(found):
        # Such a commit names the state's checkpoints, which nothing else does.
        return CheckpointIssue(code="torn-commit", what=what, scenario="rewind")
    gone = [f"commits/{last}", *(f"offsets/{b}" for b in found.logged if b > last)]
    return CheckpointIssue(
        code="torn-commit",
        what=what,
        edits=_removed(gone),
        risk=TORN_COMMIT(batch=last),
    )


def torn_offsets(found: CheckpointFiles, _known: Known) -> CheckpointIssue | None:
    """The newest entry of the offset log was not written to its end."""
    last, logged = found.last_commit, found.logged
    if not logged or not found.is_torn(f"offsets/{logged[-1]}"):
        return None
    newest = logged[-1]
    what = f"`offsets/{newest}` can't be read"
    if last is None or newest > last:
        return CheckpointIssue(
            code="torn-offsets", what=what, edits=_removed([f"offsets/{newest}"])
        )
    before = newest - 1
    if newest != last or found.offsets(before) is None or found.commit(before) is None:
        return CheckpointIssue(code="torn-offsets", what=what, scenario="rewind")
    return _one_back(found, newest, what)


ONE_BATCH_BACK = Risk(
    "batch {batch} is reprocessed, starting at the end of batch {before}: the sink gets "
    "duplicates, unless it overwrites by key",
    batch="N",
    before="N-1",
)


def _one_back(found: CheckpointFiles, batch: int, what: str) -> CheckpointIssue:
    """Take the last batch back: where it stood is lost with its entry."""
    if found.sink_batch is not None and found.sink_batch >= batch:
        why = (
            f"{what}, and the file sink has already recorded batch {batch}: the sink would "
            "drop the reprocessed batch"
        )
        return CheckpointIssue(code="torn-offsets", what=why, scenario="rewind")
    return CheckpointIssue(
        code="torn-offsets",
        what=what,
        edits=_removed([f"commits/{batch}", f"offsets/{batch}"]),
        risk=ONE_BATCH_BACK(batch=batch, before=batch - 1),
    )


COMMITS_REMOVED = Risk(
    "the query reprocesses {batches}, starting with batch {first}: the sink gets duplicates, "
    "unless it overwrites by key",
    batches="N batches",
    first="N",
)


def commits_beyond(found: CheckpointFiles, _known: Known) -> CheckpointIssue | None:
    """Commits of batches that the offset log does not have (any more)."""
    last, logged = found.last_commit, found.logged
    if last is None or not logged or last <= logged[-1]:
        return None
    gone = [b for b in found.committed if b > logged[-1]]
    what = f"the commit log has batch {last}, but the offset log ends at batch {logged[-1]}"
    if found.sink_batch is not None and found.sink_batch > logged[-1]:
        why = (
            f"{what}, and the file sink has already recorded batch {found.sink_batch}: the sink "
            "would drop the reprocessed batches"
        )
        return CheckpointIssue(code="commits-beyond", what=why, scenario="from-scratch")
    return CheckpointIssue(
        code="commits-beyond",
        what=what,
        edits=_removed([f"commits/{b}" for b in gone]),
        risk=COMMITS_REMOVED(batches=plural(len(gone), "batch"), first=gone[0]),
    )


BEGUN_TWICE = Risk(
    "if the sink already has rows of the uncommitted batch, it gets these rows twice"
)


def uncommitted(found: CheckpointFiles, known: Known) -> CheckpointIssue | None:
    """Find an uncommitted batch, of this query or of an attempt that failed to start."""
    last = found.last_commit
    begun = [b for b in found.logged if last is None or b > last]
    if not begun or last is None:
        return None
    went_back = next(_went_back(found, last, begun[-1]), None)
    if went_back:
        return CheckpointIssue(
            code="offsets-back",
            what=(
                f"{went_back}. The topic was probably recreated. If failOnDataLoss is true (the "
                "default), the query fails on every start"
            ),
            scenario="new-checkpoint",
        )
    why = next(_foreign(found, known, last, begun), None)
    if why is None and not known.drop_uncommitted:
        return None
    what = f"batch {begun[-1]} is uncommitted" + (f": {why}" if why else "")
    if found.sink_batch is not None and found.sink_batch >= begun[0]:
        what = (
            f"{what}. The file sink has already recorded batch {found.sink_batch}, so the sink "
            "would drop the reprocessed batch"
        )
        return CheckpointIssue(code="uncommitted", what=what, scenario="rewind")
    gone = [f"offsets/{b}" for b in begun]
    beyond, problem = entries_beyond(found, last)
    if problem:
        return CheckpointIssue(
            code="uncommitted", what=f"{what}. {problem}", scenario="new-checkpoint"
        )
    risk = None if why else BEGUN_TWICE()
    return CheckpointIssue(
        code="uncommitted", what=what, edits=_removed([*gone, *beyond]), risk=risk
    )


SOURCE_LOG_WRITTEN = Risk(
    "the repair writes `{folder}` with the offsets of batch {batch}: the query then can't be "
    "rewound to batch {before}",
    batch="N",
    before="N-1",
)


def predecessor(found: CheckpointFiles, _known: Known) -> CheckpointIssue | None:
    """Spark reads the newest entry and the one before it, which it needs only for a batch to run.

    Where the newest batch is done, an entry with the same positions serves as well: it says that
    there is nothing to ask of the sources again.
    """
    logged, last = found.logged, found.last_commit
    newest = logged[-1] if logged else 0
    path = f"offsets/{newest - 1}"
    is_there = path in found.names and not found.is_torn(path)
    if newest == 0 or last != newest or is_there:
        return None
    if path not in found.names and len(logged) > 1 and newest - 1 not in found.committed:
        # Asynchronous progress leaves the same batches out of both logs.
        return None
    text = found.files.get(f"offsets/{newest}")
    if text is None or found.offsets(newest) is None:
        return None
    there = "can't be read" if path in found.names else "is missing"
    return CheckpointIssue(
        code="predecessor",
        what=f"`{path}` {there}, but Spark reads it when the query starts",
        edits=(Edit(path=path, text=text.decode()),),
        risk=SOURCE_LOG_WRITTEN(folder=path, batch=newest, before=newest - 1),
    )


LOGS = (metadata, torn_commit, torn_offsets, commits_beyond, uncommitted, predecessor)


def _foreign(found: CheckpointFiles, known: Known, last: int, begun: list[int]) -> Iterator[str]:
    """Say what in an uncommitted batch can't come from the query that committed batch `last`."""
    base, new = found.offsets(last), found.offsets(begun[-1])
    if len(begun) > 1:
        yield (
            f"more than one batch is uncommitted ({', '.join(map(str, begun))}), but a query "
            "leaves at most one uncommitted batch"
        )
    if base is None or new is None:
        return
    if len(base.offsets) != len(new.offsets):
        yield (
            f"the uncommitted batch has {plural(len(new.offsets), 'source')}, but batch "
            f"{last} has {len(base.offsets)}"
        )
        return
    if {n for n, _ in base.offsets} != {n for n, _ in new.offsets}:
        yield f"the uncommitted batch and batch {last} have different source names"
        return
    pairs = zip(base.offsets, new.offsets, strict=True)
    for position, ((_, was), (_, now)) in enumerate(pairs):
        yield from _other_place(known, position, len(base.offsets), was, now)
    yield from foreign_files(found, known, last)
    if _shuffle(new) != _shuffle(base):
        yield from _other_partitions(found, _shuffle(new))


def _other_place(known: Known, position: int, of: int, was: object, now: object) -> Iterator[str]:
    if was is None or now is None:
        return
    if type(was) is not type(now) or _kind(was) != _kind(now):
        yield (
            f"source {position} has different types in the uncommitted batch and in the last "
            "committed batch"
        )
        return
    if _kind(was) != "topics" or not isinstance(was, dict) or not isinstance(now, dict):
        return
    if gone := sorted(was.keys() - now.keys()):
        yield f"the last committed batch reads {', '.join(gone)}, but the uncommitted batch doesn't"
        return
    source = known.source(position, of)
    if source is None or source.pattern or not source.topics:
        return
    if strange := sorted(now.keys() - was.keys() - set(source.topics)):
        yield (
            f"the uncommitted batch reads {', '.join(strange)}, but the stored version of the "
            "query doesn't"
        )


def _kind(offsets: object) -> str:
    if not isinstance(offsets, dict):
        return type(offsets).__name__
    if offsets.keys() == {"logOffset"}:
        return "files"
    is_topics = offsets and all(isinstance(v, dict) for v in offsets.values())
    return "topics" if is_topics else "other"


def _shuffle(entry: OffsetLog) -> str:
    return str(entry.metadata.get("conf", {}).get(_SHUFFLE, ""))


def _other_partitions(found: CheckpointFiles, said: str) -> Iterator[str]:
    """Batches of one query have as many partitions as its state."""
    read = read_checkpoint(found.files, found.names, source=found.location)
    stored = [t.partitions or 0 for o in read.operators or () for t in o.stores]
    there = max(stored, default=0)
    if said.isdecimal() and there and int(said) != there:
        yield (
            f"the uncommitted batch has {plural(int(said), 'shuffle partition')}, but the state "
            f"has {there}"
        )


def _went_back(found: CheckpointFiles, last: int, newest: int) -> Iterator[str]:
    base, new = found.offsets(last), found.offsets(newest)
    if base is None or new is None or len(base.offsets) != len(new.offsets):
        return
    for (_, was), (_, now) in zip(base.offsets, new.offsets, strict=True):
        if _kind(was) != "topics" or _kind(now) != "topics":
            continue
        assert isinstance(was, dict) and isinstance(now, dict)
        for topic in sorted(was.keys() & now.keys()):
            for number, offset in sorted(was[topic].items()):
                at = now[topic].get(number)
                if isinstance(at, int) and isinstance(offset, int) and at < offset:
                    yield (
                        f"the offset of {topic}[{number}] decreases: {offset} after batch {last}, "
                        f"but {at} in `offsets/{newest}`"
                    )


def _has_state_ids(found: CheckpointFiles) -> bool:
    commits = (found.commit(b) for b in found.committed[-3:])
    if any(c is not None and c.state_ids is not None for c in commits):
        return True
    newest = found.offsets(found.logged[-1]) if found.logged else None
    conf = newest.metadata.get("conf", {}) if newest else {}
    return str(conf.get(_STATE_IDS, "1")) != "1"


def _removed(paths: list[str]) -> tuple[Edit, ...]:
    return tuple(Edit(path=path) for path in paths)


RISKS = (
    TORN_COMMIT,
    ONE_BATCH_BACK,
    COMMITS_REMOVED,
    BEGUN_TWICE,
    SOURCE_LOG_WRITTEN,
)
