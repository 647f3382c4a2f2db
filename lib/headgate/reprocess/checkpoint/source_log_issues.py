"""Check the logs of a checkpoint's sources: what an attempt added there stays there."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from headgate.parse.spark.checkpoint.source_log import read_source_entry
from headgate.reprocess.checkpoint.files import UNREADABLE, CheckpointFiles, Edit
from headgate.reprocess.checkpoint.issue import CheckpointIssue, Known


def strange_sources(found: CheckpointFiles, _known: Known) -> CheckpointIssue | None:
    """Find a source that the query doesn't have: if added later, it would start at this offset.

    Spark writes a source's initial offset before it checks the state.
    """
    last = found.last_commit
    begun = [b for b in found.logged if last is None or b > last]
    entry = found.offsets(last) if last is not None else None
    if entry is None or begun:
        return None
    folders = {n.split("/")[1] for n in found.names if n.startswith("sources/") and n[8:]}
    if not all(f.isdecimal() for f in folders) or any(n for n, _ in entry.offsets):
        # Those of named sources stay when a source is removed, and count when it comes back.
        return None
    strange = {f for f in folders if int(f) >= len(entry.offsets)}
    gone = sorted(n for n in _source_files(found) if n.split("/")[1] in strange)
    if not gone:
        return None
    names = ", ".join(f"`sources/{s}`" for s in sorted(strange))
    return CheckpointIssue(
        code="strange-source",
        what=(
            f"a failed start left an initial offset for {names} in the checkpoint, but the query "
            "has no such source"
        ),
        edits=tuple(Edit(path=path) for path in gone),
    )


def poisoned_log(found: CheckpointFiles, known: Known) -> CheckpointIssue | None:
    """Find a file source's log that continues after the last batch, with files from elsewhere.

    The next batch reads these files, whatever the query's path is.
    """
    last = found.last_commit
    if last is None or any(b > last for b in found.logged):
        return None
    why = next(foreign_files(found, known, last), None)
    beyond, problem = entries_beyond(found, last)
    if not beyond or (why is None and not known.drop_uncommitted):
        return None
    what = f"`{beyond[0]}` lists files that no batch has read" + (f": {why}" if why else "")
    if problem:
        return CheckpointIssue(
            code="poisoned-source", what=f"{what}. {problem}", scenario="new-checkpoint"
        )
    return CheckpointIssue(
        code="poisoned-source", what=what, edits=tuple(Edit(path=path) for path in beyond)
    )


LOOKS = (strange_sources, poisoned_log)


def foreign_files(found: CheckpointFiles, known: Known, last: int) -> Iterator[str]:
    """Name files beyond the batch `last` that do not lie where the query's source reads."""
    entry = found.offsets(last)
    of = len(entry.offsets) if entry else 0
    for position, folder, beyond in _file_logs(found, last):
        source = known.source(position, of)
        place = source.path or source.options.get("path") if source else None
        if not place:
            continue
        for path in beyond:
            for file in _files_of(found, path):
                if not _is_below(file, place):
                    yield f"`{folder}` lists {file}, which isn't under the source path {place}"


def entries_beyond(found: CheckpointFiles, last: int) -> tuple[list[str], str | None]:
    """Return the entries of file sources' logs after the batch `last`, and why they can't go.

    A `.compact` holds everything before it, too: it can go only where that is there as well.
    """
    gone: list[str] = []
    for _, folder, beyond in _file_logs(found, last):
        gone += beyond
        kept = {int(n.removesuffix(".compact")) for n in _entries(found, folder)}
        removed = {_number(p) for p in beyond}
        rest = kept - removed
        compact = [_number(n) for n in _entries(found, folder) if n.endswith(".compact")]
        base = max((c for c in compact if c in rest), default=0)
        top = max(rest, default=-1)
        holes = [n for n in range(base, top + 1) if n not in rest]
        wanted = (min(removed) - 1) if removed else top
        if removed and (holes or top < wanted):
            return (
                gone,
                f"Headgate can't remove the compact file of `{folder}`, because the file also "
                "lists files of committed batches",
            )
    return gone, None


def _file_logs(found: CheckpointFiles, last: int) -> Iterator[tuple[int, str, list[str]]]:
    """Yield position, folder and the entries beyond the batch `last` of each file source."""
    entry = found.offsets(last)
    for position, (name, offset) in enumerate(entry.offsets if entry else ()):
        if not (isinstance(offset, dict) and offset.keys() == {"logOffset"}):
            continue
        folder = f"sources/{name or position}"
        stands = offset["logOffset"]
        if isinstance(stands, int):
            entries = (f"{folder}/{n}" for n in _entries(found, folder))
            yield position, folder, [p for p in entries if _number(p) > stands]


def _source_files(found: CheckpointFiles) -> list[str]:
    return [n for n in found.names if n.startswith("sources/") and not n.endswith("/")]


def _entries(found: CheckpointFiles, folder: str) -> list[str]:
    names = [n for n in found.below(folder) if n.removesuffix(".compact").isdecimal()]
    return sorted(names, key=lambda n: int(n.removesuffix(".compact")))


def _number(path: str) -> int:
    return int(path.rpartition("/")[2].removesuffix(".compact"))


def _files_of(found: CheckpointFiles, path: str) -> list[str]:
    """Return the files of an entry; of a compacted one only those of its own batch."""
    try:
        entry = read_source_entry(found.files[path])
    except UNREADABLE:
        return []
    number = _number(path)
    return [file for file, batch in entry.files if batch is None or batch >= number]


def _is_below(file: str, place: str) -> bool:
    """Whether a file is below a folder; of a path with wildcards, the part before them counts."""
    wanted = _plain(place)
    for sign in "*?[{":
        wanted = wanted.split(sign)[0]
    at = _plain(file)
    whole = wanted.rstrip("/")
    return (
        at == whole
        or at.startswith(wanted if wanted != whole else f"{whole}/")
        or (wanted != _plain(place) and at.startswith(wanted))
    )


def _plain(path: str) -> str:
    parts = urlsplit(path)
    if parts.scheme in ("", "file"):
        return unquote(parts.path) if parts.scheme else path
    return f"{parts.scheme}://{parts.netloc}{unquote(parts.path)}"
