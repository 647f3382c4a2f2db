"""Read a file sink's own log, the folder `_spark_metadata` in its output: what each batch wrote.

Each batch has a file, and every tenth (`spark.sql.streaming.fileSink.log.compactInterval`) has all
files so far, `N.compact`. The sink skips a batch that is in the log: a query that uses another or
an older checkpoint with the same output loses data, and Spark reports nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import unquote

from headgate.model.sinks import SINK_FORMATS
from headgate.model.version import Progress
from headgate.parse.spark.checkpoint.reader import Reader, batches
from headgate.parse.spark.checkpoint.source_log import read_sink_entry

FOLDER = "_spark_metadata"
_FORMATS = {end: sink.format for sink in SINK_FORMATS for end in sink.ends}
_COMPACT = ".compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkLog:
    """What the log says; None where no batch that was read wrote a file.

    `target` is the folder as Spark wrote it down, `partition_by` the columns in its paths.
    """

    first_batch: int | None = None
    last_batch: int | None = None
    format: str | None = None
    target: str | None = None
    partition_by: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()


def newest_files(names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that are worth reading: the newest, and the newest that is compacted."""
    kept = [n for n in names if batches([n.removesuffix(_COMPACT)])]
    ordered = sorted(kept, key=_number)
    compacted = [n for n in ordered if n.endswith(_COMPACT)]
    return list(dict.fromkeys((*ordered[-most:], *compacted[-1:])))


def read_sink_log(
    files: Mapping[str, bytes], names: Iterable[str], *, source: str, cut: frozenset[str]
) -> SinkLog:
    """Return what the files say; `names` are all of the folder, `cut` those not read to their end.

    `source` is how a warning calls the folder.
    """
    reader = Reader(files, frozenset(files), source)
    numbers = sorted({_number(n) for n in names if batches([n.removesuffix(_COMPACT)])})
    paths: list[str] = []
    for name in sorted(files, key=_number, reverse=True):
        found = reader.read(name, partial(read_sink_entry, is_cut=name in cut))
        paths += [str(f["path"]) for f in found or ()]
    made = [_parted(path) for path in paths]
    targets = {target for target, _ in made}
    columns = {names for _, names in made}
    return SinkLog(
        first_batch=numbers[0] if numbers else None,
        last_batch=numbers[-1] if numbers else None,
        format=next((f for p in paths if (f := _format(p))), None),
        target=targets.pop() if len(targets) == 1 else None,
        partition_by=columns.pop() if len(columns) == 1 else None,
        warnings=tuple(reader.warnings),
    )


def unlike_checkpoint(log: SinkLog | None, progress: Progress | None) -> Iterator[str]:
    """Yield a sentence where the sink has batches that the checkpoint has not done yet."""
    if log is None or log.last_batch is None or progress is None:
        return
    done = progress.last_commit_batch
    logged = progress.last_offset_batch
    if logged is not None and log.last_batch > logged:
        yield (
            f"`_spark_metadata` has batch {log.last_batch}, but the checkpoint ends at batch "
            f"{logged if done is None else done}: after a restart, the "
            f"file sink writes nothing for batches up to {log.last_batch}"
        )


def _number(name: str) -> int:
    return int(name.removesuffix(_COMPACT))


def _parted(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the folder of a file of output and the columns that it is partitioned by."""
    folders = path.split("/")[:-1]
    columns: list[str] = []
    while folders and "=" in folders[-1]:
        columns.append(unquote(folders.pop().partition("=")[0]))
    return "/".join(folders), tuple(reversed(columns))


def _format(path: str) -> str | None:
    """Return the format by the ends of a file's name: `part-0.snappy.parquet`, `part-0.json.gz`."""
    ends = [e.lstrip(".") for e in reversed(PurePosixPath(path).suffixes)]
    return next((_FORMATS[e] for e in ends if e in _FORMATS), None)
