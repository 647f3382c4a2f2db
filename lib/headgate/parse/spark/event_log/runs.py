"""What a log says of one run of a query, gathered event by event."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headgate.parse.spark.event_log.plans import LoggedPlan, PlanLog
from headgate.text.engine_times import iso
from headgate.text.secrets import mask, mask_text

_CONDITION = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_CLASS = re.compile(r"^(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+)(?::|$)")
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRun:
    """One run of a query; a restart is another run of the same query id.

    Times are ISO 8601 in UTC, None if the log doesn't say: `started_at` is when the run began,
    `seen_at` the last sign of it. `ended` says that its end was logged. If it failed, `exception`
    (its first lines) and `error_class` (Spark's condition, else the exception's class) say why.
    `settings` are those of its session that differ from the application's, masked. `newest` is its
    newest progress report, `reports` are all requested ones, oldest first.
    """

    query_id: str
    run_id: str
    name: str | None = None
    application: int = 0
    started_at: str | None = None
    seen_at: str | None = None
    ended: bool = False
    exception: str | None = None
    error_class: str | None = None
    batches: int = 0
    first_batch: int | None = None
    last_batch: int | None = None
    plans: tuple[LoggedPlan, ...] = ()
    plans_left_out: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    newest: Mapping[str, Any] | None = None
    reports: tuple[bytes, ...] = ()


class RunLog:
    """One run while the log is read; `reports` holds the newest `most` progress reports."""

    __slots__ = (
        "_first_settings",
        "application",
        "batches",
        "ended",
        "error_class",
        "exception",
        "first_batch",
        "last_batch",
        "name",
        "newest",
        "plans",
        "query_id",
        "reports",
        "run_id",
        "seen_at",
        "started_at",
    )

    def __init__(self, query_id: str, run_id: str, application: int, most: int) -> None:
        self.query_id, self.run_id, self.application = query_id, run_id, application
        self.name: str | None = None
        self.started_at: str | None = None
        self.seen_at: str | None = None
        self.ended = False
        self.exception: str | None = None
        self.error_class: str | None = None
        self.batches = 0
        self.first_batch: int | None = None
        self.last_batch: int | None = None
        self.plans = PlanLog()
        self._first_settings: bytes | None = None
        self.newest: bytes | None = None
        self.reports: deque[bytes] = deque(maxlen=most)

    def seen(self, at: str | None) -> None:
        """Note a sign of the run; ISO 8601 in UTC sorts like time."""
        if at is None:
            return
        self.seen_at = max(self.seen_at or at, at)
        self.started_at = self.started_at or at

    def batch(self, number: int) -> None:
        """Note that the run was at a batch; negative ones are none."""
        if number < 0 or number == self.last_batch:
            return
        self.batches += self.last_batch is None or number > self.last_batch
        self.first_batch = number if self.first_batch is None else min(self.first_batch, number)
        self.last_batch = max(number, self.last_batch or 0)

    def set_by(self, settings: bytes) -> None:
        """Note the settings of the run's session: a run keeps those of its start."""
        if self._first_settings is None:
            self._first_settings = settings

    def failed(self, exception: str | None, error_class: str | None) -> None:
        """Note the end, with the reason where there is one."""
        self.ended = True
        if exception or error_class:
            self.exception = mask_text((exception or "").partition("\n\tat ")[0])[:_LONGEST_MESSAGE]
            self.error_class = error_class or condition(exception or "")

    def result(self) -> QueryRun:
        """Return what was gathered."""
        return QueryRun(
            query_id=self.query_id,
            run_id=self.run_id,
            name=self.name,
            application=self.application,
            started_at=self.started_at,
            seen_at=self.seen_at,
            ended=self.ended,
            exception=self.exception,
            error_class=self.error_class,
            batches=self.batches,
            first_batch=self.first_batch,
            last_batch=self.last_batch,
            plans=self.plans.plans,
            plans_left_out=self.plans.left_out,
            settings=mask({k: str(v) for k, v in (_object(self._first_settings) or {}).items()}),
            newest=_object(self.newest),
            reports=tuple(self.reports),
        )


def condition(exception: str) -> str | None:
    """Return the error condition in an exception's text, else the exception's class."""
    if match := _CONDITION.search(exception.partition("\n\tat ")[0][:_LONGEST_MESSAGE]):
        return match["name"]
    match = _CLASS.match(exception)
    return match["name"] if match else None


def moment(milliseconds: int | None) -> str | None:
    """Return milliseconds since 1970 as ISO 8601 in UTC, as progress reports have it."""
    return None if milliseconds is None else iso(milliseconds)


def _object(found: bytes | None) -> dict[str, Any] | None:
    """Return a JSON object; None where there is none that can be read."""
    if found is None:
        return None
    try:
        value = json.loads(found) if b"NaN" in found else msgspec.json.decode(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
