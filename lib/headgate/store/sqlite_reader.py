"""Answer a plan and whoever applies one from the store's SQLite file, without SQLAlchemy.

Only of a file whose tables have this program's revision: whatever else there is (PostgreSQL, an
older store, none yet) is the store's own business. All that is written is a queued run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.errors import NotFoundError
from headgate.store.clock import now
from headgate.store.queueing import ACTIVE, busy, new_id, queued_columns
from headgate.store.rows import (
    ALL_RUNS,
    AuditRow,
    Event,
    JournalEntry,
    NewRun,
    Note,
    Origin,
    RunFacts,
    RunFilter,
    RunRow,
    RunState,
    StepProgress,
)
from headgate.store.sqlite_file import SqliteFile

if TYPE_CHECKING:
    from headgate.model.activity import Activity
    from headgate.model.restore_points import RestorePoint
    from headgate.model.schedules import StoredSchedule
    from headgate.model.version import Version
    from headgate.store.store import Store

_SQLITE = "sqlite:///"
_MIGRATIONS = Path(__file__).parent / "migrations" / "versions"
_COLUMNS, _FACTS = (
    ", ".join(f"runs.{f.name}" for f in fields(kind)) for kind in (RunRow, RunFacts)
)


class SqliteReader:
    """The same questions as `Store`'s of the same names, and the same answers."""

    def __init__(self, file: SqliteFile) -> None:
        self.database = file
        self.versions = _Versions(file)
        self.runs = _Runs(file)
        self.journal = _Journal(file)
        self.progress = _Progresses(file)
        self.audit = _Audit(file)
        self.checkpoint_locations = _CheckpointLocations(file)
        self.activity = _Activities(file)
        self.restore_points = _RestorePoints(file)
        self.schedules = _Schedules(file)

    def close(self) -> None:
        """Close the connection."""
        self.database.close()


def open_soonest(url: str) -> Store | SqliteReader:
    """Return what answers a plan, and queues a run, soonest; errors are those of `open_store`."""
    found = _open_reader(url)
    if found is not None:
        return found
    from headgate.store.store import open_store

    return open_store(url)


def _open_reader(url: str) -> SqliteReader | None:
    path = Path(url.removeprefix(_SQLITE))
    if not url.startswith(_SQLITE) or "?" in url or not path.is_file():
        return None
    file = SqliteFile(path, url)
    if file.revision() == _head():
        return SqliteReader(file)
    file.close()
    return None


def _head() -> str:
    """Return the newest migration's number, which its file's name begins with."""
    return max(p.name[1:5] for p in _MIGRATIONS.glob("v[0-9]*.py"))


class _Versions:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def running(self, pipeline: str) -> Version | None:
        """Return what was observed last; where nothing was, the newest version or None."""
        query = (
            "SELECT number, document FROM versions WHERE pipeline = ?"
            " ORDER BY origin = ? DESC, number DESC LIMIT 1"
        )
        return self._first(query, pipeline, Origin.OBSERVED.value)

    def captured(self, pipeline: str) -> Version | None:
        """Return what was captured last, or None where nothing was."""
        query = (
            "SELECT number, document FROM versions WHERE pipeline = ? AND origin = ?"
            " ORDER BY number DESC LIMIT 1"
        )
        return self._first(query, pipeline, Origin.CAPTURED.value)

    def _first(self, query: str, pipeline: str, origin: str) -> Version | None:
        found = self._file.rows(query, pipeline, origin)
        if not found:
            return None
        from headgate.parse.evidence import version_file

        return version_file.load(
            bytes(found[0]["document"]), source=f"{pipeline}@{found[0]['number']}"
        )


class _Runs:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def touching(self, resource: str) -> tuple[RunFacts, ...]:
        """Return the runs that touch a resource, newest first."""
        query = (
            f"SELECT {_FACTS} FROM runs JOIN run_resources ON run_resources.run = runs.id"
            " WHERE run_resources.resource = ? ORDER BY runs.seq DESC"
        )
        return tuple(RunFacts(**_values(row)) for row in self._file.rows(query, resource))

    def resources(self, run: str) -> tuple[str, ...]:
        """Return what the run touches."""
        query = "SELECT resource FROM run_resources WHERE run = ? ORDER BY resource"
        return tuple(row["resource"] for row in self._file.rows(query, run))

    def list(
        self, which: RunFilter = ALL_RUNS, *, limit: int | None = None, offset: int = 0
    ) -> tuple[RunFacts, ...]:
        """Return the runs that fit, newest first; at most `limit` after the first `offset`."""
        where, values = _fitting(which)
        query = f"SELECT {_FACTS} FROM runs {where} ORDER BY seq DESC LIMIT ? OFFSET ?"
        rows = self._file.rows(query, *values, -1 if limit is None else limit, offset)
        return tuple(RunFacts(**_values(row)) for row in rows)

    def count(self, which: RunFilter = ALL_RUNS) -> int:
        """Return how many runs fit."""
        where, values = _fitting(which)
        return int(self._file.rows(f"SELECT count(*) FROM runs {where}", *values)[0][0])

    def get(self, run: str) -> RunRow:
        """Return the run; NotFoundError where there is none of that id."""
        found = self._file.rows(f"SELECT {_COLUMNS} FROM runs WHERE id = ?", run)
        if not found:
            raise _no_run(run)
        return RunRow(**_values(found[0]))

    def state(self, run: str) -> RunState:
        """Return only the run's state."""
        found = self._file.rows("SELECT state FROM runs WHERE id = ?", run)
        if not found:
            raise _no_run(run)
        return RunState(found[0]["state"])

    def enqueue(self, new: NewRun, *, by: str, action: str) -> str:
        """Return the id of a new queued run; RefusedError where an active run has a resource."""
        run = new_id()
        with self._file.writing():
            self._refuse_if_busy(new.resources)
            self._file.add("runs", queued_columns(new, run, by=by))
            for resource in sorted(set(new.resources)):
                self._file.add("run_resources", {"run": run, "resource": resource})
            said = {"at": now(), "by": by, "action": action, "run": run}
            self._file.add("audit", {**said, "pipeline": new.pipeline, "details": "{}"})
        return run

    def _refuse_if_busy(self, resources: Sequence[str]) -> None:
        states, names = ("(" + ", ".join("?" * len(v)) + ")" for v in (ACTIVE, resources))
        query = (
            "SELECT runs.id, runs.state, run_resources.resource FROM runs"
            " JOIN run_resources ON run_resources.run = runs.id"
            f" WHERE runs.state IN {states} AND run_resources.resource IN {names} LIMIT 1"
        )
        for row in self._file.rows(query, *ACTIVE, *resources):
            raise busy(row["id"], row["state"], row["resource"])


class _Journal:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def entries(self, run: str) -> list[JournalEntry]:
        """Return what was journalled of the run, oldest first."""
        query = "SELECT run, position, event, data, at FROM journal WHERE run = ? ORDER BY seq"
        return [_entry(row) for row in self._file.rows(query, run)]

    def newest(self, run: str) -> tuple[int, int]:
        """Return numbers that grow with each entry and with each message of the run."""
        query = (
            "SELECT (SELECT max(seq) FROM journal WHERE run = ?),"
            " (SELECT max(seq) FROM progress WHERE run = ?)"
        )
        entry, note = self._file.rows(query, run, run)[0]
        return entry or 0, note or 0

    def notes(self, run: str) -> list[Note]:
        """Return the messages of the run, oldest first."""
        query = "SELECT run, position, message, at FROM progress WHERE run = ? ORDER BY seq"
        return [Note(**dict(row)) for row in self._file.rows(query, run)]


class _Progresses:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def of(self, run: str) -> tuple[StepProgress, ...]:
        """Return the newest counts of a run, by step and unit."""
        query = "SELECT * FROM step_progress WHERE run = ? ORDER BY position, unit"
        return tuple(StepProgress(**dict(row)) for row in self._file.rows(query, run))


class _Audit:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def list(self, run: str) -> list[AuditRow]:
        """Return the entries of one run, oldest first."""
        rows = self._file.rows("SELECT * FROM audit WHERE run = ? ORDER BY seq", run)
        return [AuditRow.read(dict(row)) for row in rows]


class _CheckpointLocations:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def all(self) -> dict[str, tuple[str, str]]:
        """Return switched checkpoints: by pipeline the declared location, and the current one."""
        rows = self._file.rows("SELECT pipeline, declared, location FROM locations")
        return {row["pipeline"]: (row["declared"], row["location"]) for row in rows}


class _Activities:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def all(self) -> dict[str, Activity]:
        """Return how each pipeline was seen last."""
        # Imported here: hardly a plan asks.
        import msgspec

        from headgate.model.activity import Activity

        rows = self._file.rows("SELECT pipeline, document FROM activity")
        return {r["pipeline"]: msgspec.json.decode(r["document"], type=Activity) for r in rows}


class _RestorePoints:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def of(self, pipeline: str) -> tuple[RestorePoint, ...]:
        """Return the points of a pipeline, oldest first."""
        query = "SELECT document FROM restore_points WHERE pipeline = ? ORDER BY made_at, id"
        rows = self._file.rows(query, pipeline)
        if not rows:
            return ()
        import msgspec

        from headgate.model.restore_points import RestorePoint

        return tuple(msgspec.json.decode(row["document"], type=RestorePoint) for row in rows)


class _Schedules:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def get(self, pipeline: str) -> StoredSchedule | None:
        """Return the pipeline's schedule, None if it has none."""
        rows = self._file.rows("SELECT document FROM schedules WHERE pipeline = ?", pipeline)
        if not rows:
            return None
        import msgspec

        from headgate.model.schedules import StoredSchedule

        return msgspec.json.decode(rows[0]["document"], type=StoredSchedule)


def _fitting(which: RunFilter) -> tuple[str, list[str]]:
    """Return the condition and the values for its marks."""
    parts, values = [f"{column} = ?" for column in which.equal], list(which.equal.values())
    if which.states:
        parts.append(f"state IN ({', '.join('?' * len(which.states))})")
        values += [state.value for state in which.states]
    return f"WHERE {' AND '.join(parts)}" if parts else "", values


def _no_run(run: str) -> NotFoundError:
    return NotFoundError(f"run {run} not found: `headgate runs` lists all runs")


def _values(row: sqlite3.Row) -> dict[str, Any]:
    values: dict[str, Any] = dict(row)
    values["state"] = RunState(values["state"])
    for name in _BOOLEANS & values.keys():
        values[name] = None if values[name] is None else bool(values[name])
    return values


# SQLite has no booleans: it keeps them as 0 and 1.
_BOOLEANS = {f.name for f in fields(RunRow) if str(f.type).startswith("bool")}


def _entry(row: sqlite3.Row) -> JournalEntry:
    values: dict[str, Any] = dict(row)
    values["event"], values["data"] = Event(values["event"]), json.loads(values["data"])
    return JournalEntry(**values)
