"""Versions of pipelines, numbered from 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.errors import NotFoundError
from headgate.model.version import Version
from headgate.parse.evidence import version_file
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import Origin, VersionRow
from headgate.store.tables import VERSIONS
from headgate.text.numbers import plural


class Versions:
    """A row here means that the pipeline was seen or captured like this, and differently before.

    Rows are never changed. Numbers of a pipeline are 1, 2, 3, ... without a hole. Two neighbours
    never have one fingerprint: neither among the observed versions, nor a capture and the version
    before it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        pipeline: str,
        version: Version,
        fingerprint: str,
        *,
        origin: Origin = Origin.CAPTURED,
    ) -> tuple[int, bool]:
        """Return its number and whether it is new.

        An observed version is compared with the last observed one, so that a capture in between
        doesn't count as a change of the pipeline; a capture is compared with the newest version.
        """
        with self._database.writing() as connection:
            newest = _newest(connection, pipeline)
            seen = Origin.OBSERVED if origin is Origin.OBSERVED else None
            last = _newest(connection, pipeline, seen)
            if last is not None and last.fingerprint == fingerprint:
                return last.number, False
            number = newest.number + 1 if newest else 1
            connection.execute(
                sa.insert(VERSIONS).values(
                    pipeline=pipeline,
                    number=number,
                    captured_at=version.captured_at or now(),
                    fingerprint=fingerprint,
                    summary=summarise(version),
                    origin=origin.value,
                    document=version_file.dump(version),
                )
            )
        return number, True

    def newest(self, pipeline: str) -> Version | None:
        """Return the newest version, or None where there is none."""
        with self._database.reading() as connection:
            row = _newest(connection, pipeline)
        return self.get(pipeline, row.number) if row else None

    def running(self, pipeline: str) -> Version | None:
        """Return what was observed last; where nothing was, the newest version or None."""
        with self._database.reading() as connection:
            row = _newest(connection, pipeline, Origin.OBSERVED) or _newest(connection, pipeline)
        return self.get(pipeline, row.number) if row else None

    def captured(self, pipeline: str) -> Version | None:
        """Return what was captured last, or None where nothing was."""
        with self._database.reading() as connection:
            row = _newest(connection, pipeline, Origin.CAPTURED)
        return self.get(pipeline, row.number) if row else None

    def all_running(self, pipelines: Iterable[str]) -> dict[str, Version]:
        """Return what `running` says of each pipeline that has a version, in few queries."""
        chosen: dict[str, VersionRow] = {}
        for row in self.list():
            known = chosen.get(row.pipeline)
            if known is None or row.origin is Origin.OBSERVED or known.origin is row.origin:
                chosen[row.pipeline] = row
        wanted = [chosen[name] for name in dict.fromkeys(pipelines) if name in chosen]
        # A row never changes, so a version is read once as long as its pipeline keeps it.
        url = str(self._database.engine.url)
        fresh = [row for row in wanted if _KEPT.get((url, row.pipeline), (None,))[0] != row]
        for row, version in self._load(fresh):
            _KEPT[url, row.pipeline] = row, version
        return {row.pipeline: _KEPT[url, row.pipeline][1] for row in wanted}

    def _load(self, rows: Sequence[VersionRow]) -> Iterator[tuple[VersionRow, Version]]:
        key = sa.tuple_(VERSIONS.c.pipeline, VERSIONS.c.number)
        query = sa.select(VERSIONS.c.pipeline, VERSIONS.c.number, VERSIONS.c.document)
        for begin in range(0, len(rows), _AT_ONCE):
            asked = {(row.pipeline, row.number): row for row in rows[begin : begin + _AT_ONCE]}
            with self._database.reading() as connection:
                found = connection.execute(query.where(key.in_(list(asked)))).all()
            for name, number, document in found:
                source = f"{name}@{number}"
                yield asked[name, number], version_file.load(bytes(document), source=source)

    def get(self, pipeline: str, number: int) -> Version:
        """Return that version; NotFoundError says which ones there are."""
        with self._database.reading() as connection:
            query = sa.select(VERSIONS.c.document).where(
                VERSIONS.c.pipeline == pipeline, VERSIONS.c.number == number
            )
            document = connection.execute(query).scalar()
        if document is None:
            raise NotFoundError(_missing(pipeline, number, self.list(pipeline)))
        return version_file.load(bytes(document), source=f"{pipeline}@{number}")

    def list(self, pipeline: str | None = None) -> list[VersionRow]:
        """Return the versions of one pipeline, or of all, oldest first."""
        query = sa.select(*_LISTED).order_by(VERSIONS.c.pipeline, VERSIONS.c.number)
        if pipeline is not None:
            query = query.where(VERSIONS.c.pipeline == pipeline)
        with self._database.reading() as connection:
            return [_row(row) for row in connection.execute(query)]


_AT_ONCE = 400
"""Most versions that one query loads."""
_KEPT: dict[tuple[str, str], tuple[VersionRow, Version]] = {}
"""Running version of each pipeline by store, as last read."""
_LISTED = tuple(c for c in VERSIONS.c if c.name != "document")


def _newest(
    connection: Connection, pipeline: str, origin: Origin | None = None
) -> VersionRow | None:
    query = (
        sa.select(*_LISTED)
        .where(VERSIONS.c.pipeline == pipeline)
        .order_by(VERSIONS.c.number.desc())
        .limit(1)
    )
    if origin is not None:
        query = query.where(VERSIONS.c.origin == origin.value)
    row = connection.execute(query).first()
    return _row(row) if row else None


def _row(row: sa.Row[Any]) -> VersionRow:
    values = dict(row._mapping)
    return VersionRow(**{**values, "origin": Origin(values["origin"])})


def _missing(pipeline: str, number: int, rows: list[VersionRow]) -> str:
    if not rows:
        return (
            f"no version of {pipeline} is stored yet. Store a version with `headgate capture "
            f"EVIDENCE --pipeline {pipeline}`"
        )
    newest = rows[-1].number
    known = f"{pipeline}@1" if newest == 1 else f"{pipeline}@1 to {pipeline}@{newest}"
    return f"{pipeline} has no version {number}. Choose a stored version: {known}"


def summarise(version: Version) -> str:
    """Return one line for lists, such as `2 sources, 1 stateful operator, sink kafka`."""
    parts = [plural(len(version.sources), "source")] if version.sources is not None else []
    if version.stateful is not None:
        parts.append(plural(len(version.stateful), "stateful operator"))
    if version.sink is not None and version.sink.format:
        parts.append(f"sink {version.sink.format}")
    return ", ".join(parts) or version.engine.value
