"""Samples of real rows for a twin run, from files or from a pipeline's Kafka topics."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import EvidenceError
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka.read_records import Record, read_records
from headgate.text.numbers import instead, name_list
from headgate.twin.samples import fitted
from headgate.usecases.context import Context

Rows = list[dict[str, Any]]
_MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class SampleWish:
    """Where sampled rows come from: files (`FILE` or `SOURCE=FILE`), or a pipeline's topics.

    At most the newest `records` of each partition are read.
    """

    files: tuple[str, ...] = ()
    pipeline: str | None = None
    records: int = 200


def sampled_rows(
    wish: SampleWish, sources: Sequence[Mapping[str, Any]], context: Context | None
) -> dict[str, Rows]:
    """Return sampled rows by the folder of their source.

    Headgate joins no group and writes nothing. `sources` are those of the old version: `folder`,
    `kind`, `location`, `schema`. EvidenceError if a file can't be read or fits no source,
    NotFoundError if the pipeline isn't registered, UnreachableError if Kafka doesn't respond.
    """
    found: dict[str, Rows] = {}
    for text in wish.files:
        name, file = _parts(text)
        source = _source(name, sources)
        rows = fitted(_read(file), source["schema"])
        if rows is None:
            columns = ", ".join(f["name"] for f in source["schema"]["fields"])
            raise EvidenceError(
                f"sample file {file} has none of the columns of source {source['location']} "
                f"({columns}). Use a file with rows of this source, or choose another source with "
                "--sample SOURCE=FILE"
            )
        found.setdefault(source["folder"], []).extend(rows)
    if wish.pipeline is not None:
        found |= _from_topics(wish, sources, context)
    return found


def _parts(text: str) -> tuple[str | None, Path]:
    name, sign, file = text.partition("=")
    if Path(text).exists() or not sign:
        return None, Path(text)
    return name, Path(file)


def _source(name: str | None, sources: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the source that a name means: its path or topic, or the end of its path."""
    names = [str(s["location"]) for s in sources]
    if name is None:
        if len(sources) == 1:
            return sources[0]
        if not sources:
            raise EvidenceError("--sample: the old version reads no stream. Leave out --sample")
        listed = ", ".join(names)
        raise EvidenceError(
            "the query has several sources. Pass --sample SOURCE=FILE, where SOURCE is one of "
            f"{listed}"
        )
    for source in sources:
        location = str(source["location"])
        if name in (location, Path(location).name, *location.split(",")):
            return source
    raise EvidenceError(f"--sample: the query has no source {name}{instead(name, names)}")


def _read(file: Path) -> Rows:
    """Return the rows of a file of JSON lines, CSV or Parquet, recognized by its content."""
    try:
        with file.open("rb") as stream:
            is_parquet = stream.read(4) == b"PAR1"
        rows = _parquet(file) if is_parquet else _text(file.read_text(encoding="utf-8"), file)
        return [row for _, row in zip(range(_MOST_ROWS), rows, strict=False)]
    except OSError as error:
        raise EvidenceError(
            f"sample file {file} can't be read: {error.strerror or error}. Check the path and its "
            "permissions"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise EvidenceError(
            f"{file} can't be read as a sample ({error}): use JSON lines, CSV or Parquet"
        ) from None


def _parquet(file: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import ArrowException, parquet

    try:
        for batch in parquet.ParquetFile(file).iter_batches(_MOST_ROWS):
            for row in batch.to_pylist():
                yield {k: v if isinstance(v, bytes) else _json(v) for k, v in row.items()}
    except ArrowException as error:
        raise EvidenceError(
            f"{file} can't be read as a sample ({error}): use JSON lines, CSV or Parquet"
        ) from None


def _json(value: Any) -> Any:
    """Return a value as JSON has it: times and decimals as text."""
    return json.loads(json.dumps(value, default=str))


def _text(text: str, file: Path) -> Iterator[dict[str, Any]]:
    lines = text.splitlines()
    if not text.lstrip().startswith("{"):
        yield from csv.DictReader(lines)
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise EvidenceError(
                    f"{file}:{number}: expected one JSON object in each line: correct or "
                    "remove this line"
                )
            yield row


def _from_topics(
    wish: SampleWish, sources: Sequence[Mapping[str, Any]], context: Context | None
) -> dict[str, Rows]:
    if context is None:
        raise EvidenceError(
            "--sample-from: no headgate.toml found. Register the pipeline in headgate.toml"
        )
    context.registered(str(wish.pipeline))
    topics = {t: s for s in sources if s["kind"] == "kafka" for t in s["location"].split(",")}
    if not topics:
        raise EvidenceError(
            "--sample-from: the old version subscribes to no Kafka topic by name. Use --sample FILE"
        )
    found: dict[str, Rows] = {}
    with open_kafka(context.registry) as kafka:
        seen = kafka.topics(frozenset(topics))
        ranges = {
            (name, p.number): (max(p.begin or 0, (p.end or 0) - wish.records), p.end or 0)
            for name, topic in seen.items()
            for p in topic.partitions
        }
        step = "Use --sample FILE with fewer rows instead of --sample-from"
        for record in read_records(kafka.bootstrap, kafka.config, ranges, step=step):
            source = topics[record.topic]
            rows = fitted([_row(record)], source["schema"]) or []
            found.setdefault(source["folder"], []).extend(rows)
    if not found:
        raise EvidenceError(
            f"--sample-from: no records found in {name_list(topics)}. Use --sample FILE"
        )
    return found


def _row(record: Record) -> dict[str, Any]:
    return {"topic": record.topic, "key": record.key, "value": record.value}
