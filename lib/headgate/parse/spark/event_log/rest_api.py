"""Read what Spark's REST interface answers: an application, and the batches of its queries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from headgate.parse.spark.event_log.events import (
    ApplicationEnd,
    ApplicationStart,
    EnvironmentUpdate,
    ExecutionEnd,
    ExecutionStart,
    LogStart,
)
from headgate.parse.spark.event_log.gather import Gatherer
from headgate.parse.spark.event_log.read import EventLog
from headgate.text.json_text import optional_text, whole
from headgate.text.secrets import is_secret

_API = re.compile(
    r"/api/v1(?:/applications(?:/(?P<id>[^/?#]+)(?:/(?P<attempt>\d+))?)?)?(?:[/?#]|$)"
)
_HISTORY = re.compile(r"/history/(?P<id>[^/?#]+)(?:/(?P<attempt>\d+))?(?:[/?#]|$)")
_PROXY = re.compile(r"^(?P<base>/proxy/(?P<id>[^/?#]+))(?:[/?#]|$)")
# The pages of Spark's own UI: people copy the address of the one that they look at.
_PAGE = re.compile(
    r"/(?:jobs|stages|storage|environment|executors|SQL|StreamingQuery|connect|streaming)"
    r"(?:[/?#].*)?$"
)
_BATCH = re.compile(r"\nid = (?P<query>\S+)\nrunId = (?P<run>\S+)\nbatch = (?P<batch>\d{1,18})\s*$")
PLANS = 4
"""Number of batches of a run with requested plans: the plan of a batch without data shows less."""
MISSING = (
    "Spark's REST API doesn't show progress, offsets or the end of a query: use "
    "`headgate.watch`, the event log or the checkpoint"
)


@dataclass(frozen=True, slots=True)
class RestAddress:
    """Where a REST interface is: `base` ends before `/api/v1`; the application may be named."""

    base: str
    application: str | None = None
    attempt: str | None = None


def batch_query(description: str) -> str | None:
    """Return the id of the query whose batch an execution is, None if it isn't a batch."""
    match = _BATCH.search(description)
    return match["query"] if match else None


def rest_address(url: str) -> RestAddress:
    """Return the interface behind any address of a UI or of a History Server, of any page of it."""
    scheme, _, rest = url.strip().partition("://")
    host, slash, path = rest.partition("/")
    host, path = host.partition("?")[0].partition("#")[0], f"{slash}{path}"
    base = f"{scheme.lower()}://{host}"
    if match := _PROXY.match(path):
        return RestAddress(base + match["base"], match["id"])
    for pattern in (_API, _HISTORY):
        if match := pattern.search(path):
            return RestAddress(base + path[: match.start()], match["id"], match["attempt"])
    page = _PAGE.search(path)
    kept = path[: page.start()] if page else path.partition("?")[0].partition("#")[0]
    return RestAddress(base + kept.rstrip("/"))


def wanted_executions(listed: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the executions to ask the plans of: of each run the newest batches that are done."""
    newest: dict[tuple[str, str], dict[int, int]] = {}
    for found in listed:
        match = _BATCH.search(str(found.get("description", "")))
        number, root = found.get("id"), found.get("rootExecutionId")
        if match is None or not isinstance(number, int) or root not in (None, number, -1):
            continue
        if found.get("status") != "FAILED":
            newest.setdefault((match["query"], match["run"]), {})[int(match["batch"])] = number
    return sorted(
        number for batches in newest.values() for _, number in sorted(batches.items())[-PLANS:]
    )


def read_rest(
    application: Mapping[str, Any],
    environment: Mapping[str, Any],
    listed: Sequence[Mapping[str, Any]],
    detailed: Mapping[int, Mapping[str, Any]],
    *,
    path: str,
) -> EventLog:
    """Return the answers as an event log of the same application would be read.

    `listed` are all executions without their plans, `detailed` those with them, by id. Raises
    ValueError where the application's own answer has another shape.
    """
    gatherer = Gatherer(None, 1)
    attempts = application.get("attempts")
    attempt = attempts[0] if isinstance(attempts, list) and attempts else {}
    if not isinstance(attempt, dict) or not isinstance(application.get("id"), str):
        raise ValueError("an application needs an id and attempts")
    gatherer.take(LogStart(version=optional_text(attempt.get("appSparkVersion"))))
    gatherer.take(
        ApplicationStart(
            id=application["id"],
            name=optional_text(application.get("name")),
            at=whole(attempt.get("startTimeEpoch")),
        )
    )
    gatherer.take(EnvironmentUpdate(settings=_settings(environment)))
    for found in listed:
        _take(gatherer, found, detailed)
    if attempt.get("completed") is True:
        gatherer.take(ApplicationEnd(at=whole(attempt.get("endTimeEpoch"))))
    applications, runs, warnings = gatherer.result()
    return EventLog(
        path=path,
        applications=applications,
        runs=runs,
        events=len(listed),
        warnings=(*(f"{path} {w}" for w in warnings), f"{path}: {MISSING}"),
    )


def _take(
    gatherer: Gatherer, found: Mapping[str, Any], detailed: Mapping[int, Mapping[str, Any]]
) -> None:
    number = found.get("id")
    if not isinstance(number, int) or not _BATCH.search(str(found.get("description", ""))):
        return
    root = found.get("rootExecutionId")
    if root not in (None, number, -1):
        return
    plan = str(detailed.get(number, {}).get("planDescription") or "")
    if not plan:
        return
    started = _moment(found.get("submissionTime"))
    gatherer.take(
        ExecutionStart(
            id=number,
            description=str(found["description"]),
            plan=msgspec.Raw(json.dumps(plan).encode()),
            root=number,
            at=started,
        )
    )
    took = whole(found.get("duration")) or 0
    gatherer.take(ExecutionEnd(id=number, at=started + took if started is not None else None))


def _settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return Spark's properties; what Spark itself masked stays masked."""
    pairs = environment.get("sparkProperties")
    found = pairs if isinstance(pairs, list) else []
    return {
        str(pair[0]): str(pair[1])
        for pair in found
        if isinstance(pair, list) and len(pair) == 2 and not is_secret(str(pair[0]))
    }


def _moment(at: Any) -> int | None:
    """Return `2026-11-21T14:18:21.444GMT` in milliseconds since 1970."""
    try:
        return int(datetime.fromisoformat(str(at).replace("GMT", "+00:00")).timestamp() * 1000)
    except ValueError:
        return None
