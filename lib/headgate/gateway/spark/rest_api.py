"""Read a running application's UI, or a History Server, through Spark's REST interface."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import IO, Any
from urllib.parse import quote

from headgate.errors import EvidenceError, NotFoundError
from headgate.gateway.http.client import Web
from headgate.gateway.spark.event_logs import zipped_logs
from headgate.parse.spark.event_log.gather import Keep
from headgate.parse.spark.event_log.read import EventLog
from headgate.parse.spark.event_log.rest_api import (
    RestAddress,
    batch_query,
    read_rest,
    rest_address,
    wanted_executions,
)
from headgate.text.secrets import mask_text

_PAGE = 1000
_MOST_EXECUTIONS = 20_000
_MOST_PLANS = 400
_LARGEST_LOG = 2 << 30
_SHOWN = 10


def read_spark_rest(url: str, keep: Keep | None = None) -> tuple[EventLog, bool]:
    """Return what an address reports of one application, and whether its event log was read.

    A History Server serves the event log; a running application's UI has the batches' plans.
    Raises EvidenceError if the address is of something else or holds several applications (it
    lists them), NotFoundError if there is no such application, UnreachableError if nothing
    answers.
    """
    address = rest_address(url)
    with closing(Web(address.base)) as web:
        api = f"{web.base}/api/v1"
        application, attempt = _application(web, address)
        location = f"/api/v1/applications/{quote(application['id'], safe='')}"
        location += f"/{attempt}" if attempt else ""
        path = mask_text(f"{api}{location.removeprefix('/api/v1')}")
        with tempfile.TemporaryFile() as file:
            if (log := _event_log(web, location, path, file, keep)) is not None:
                return log, True
        return _live(web, application, location, path), False


def running_queries(url: str) -> frozenset[str]:
    """Return the ids of the queries that have a batch under way, as a running UI lists them.

    A query that waits for data has none: absence says nothing. Raises as `read_spark_rest`.
    """
    address = rest_address(url)
    with closing(Web(address.base)) as web:
        application, attempt = _application(web, address)
        location = f"/api/v1/applications/{quote(application['id'], safe='')}"
        location += f"/{attempt}" if attempt else ""
        if all(a.get("completed") for a in application["attempts"] if isinstance(a, dict)):
            return frozenset()
        under_way = [e for e in _executions(web, location) if e.get("status") == "RUNNING"]
    return frozenset(filter(None, (batch_query(str(e.get("description"))) for e in under_way)))


def _application(web: Web, address: RestAddress) -> tuple[dict[str, Any], str | None]:
    """Return the application that is meant and its newest attempt's number, if it has one."""
    try:
        listed = web.json("/api/v1/applications")
    except NotFoundError as error:
        raise EvidenceError(
            f"{web.base} has no Spark REST API: pass the address of a Spark UI (http://host:4040) "
            "or History Server"
        ) from error
    found = [a for a in listed if _is_application(a)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or len(found) != len(listed):
        raise EvidenceError(
            f"{web.base}/api/v1/applications does not return a list of Spark applications: pass "
            "the address of a Spark UI (http://host:4040) or History Server"
        )
    if address.application is not None:
        found = [a for a in found if a["id"] == address.application] or _one(web, address)
    elif not found:
        raise EvidenceError(
            f"{web.base} lists no Spark application: check spark.history.fs.logDirectory of the "
            "History Server, or pass the path of the event log"
        )
    if len(found) > 1:
        raise EvidenceError(_several(web.base, found))
    return found[0], address.attempt or _newest_attempt(found[0])


def _one(web: Web, address: RestAddress) -> list[dict[str, Any]]:
    """Request an application that the list leaves out because of its limit."""
    found = web.json(f"/api/v1/applications/{quote(address.application or '', safe='')}")
    return [found] if _is_application(found) else []


def _is_application(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("id"), str)
        and isinstance(found.get("attempts"), list)
    )


def _newest_attempt(application: Mapping[str, Any]) -> str | None:
    first = application["attempts"][0] if application["attempts"] else {}
    found = first.get("attemptId") if isinstance(first, dict) else None
    return str(found) if found is not None else None


def _several(base: str, found: list[dict[str, Any]]) -> str:
    shown = ", ".join(f"{a['id']} ({a.get('name')})" for a in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return mask_text(
        f"{base} has {len(found)} applications. Pass {base}/history/ID with one of these ids: "
        f"{shown}{more}"
    )


def _event_log(
    web: Web, location: str, path: str, file: IO[bytes], keep: Keep | None
) -> EventLog | None:
    """Return the event log that a History Server hands out; a UI's is an empty archive."""
    try:
        web.download(f"{location}/logs", file, _LARGEST_LOG)
    except NotFoundError:
        return None
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            logs = zipped_logs(archive, path)
            return logs.read(keep) if logs is not None else None
    except (zipfile.BadZipFile, EOFError) as error:
        raise EvidenceError(
            f"{path}/logs can't be read as an archive: {error}. Pass the path of the event log "
            "instead"
        ) from error


def _live(web: Web, application: Mapping[str, Any], location: str, path: str) -> EventLog:
    environment = web.json(f"{location}/environment")
    listed = list(_executions(web, location))
    detailed = {}
    wanted = wanted_executions(listed)
    for number in wanted[-_MOST_PLANS:]:
        try:
            detailed[number] = web.json(
                f"{location}/sql/{number}", {"details": "false", "planDescription": "true"}
            )
        except NotFoundError:
            continue  # The UI keeps so many executions and forgets the oldest.
    try:
        return read_rest(
            application,
            environment if isinstance(environment, dict) else {},
            listed,
            {n: d for n, d in detailed.items() if isinstance(d, dict)},
            path=path,
        )
    except ValueError as error:
        raise EvidenceError(
            f"{path} didn't return a response of Spark's REST API: {error}. Pass the path of the "
            "event log instead"
        ) from error


def _executions(web: Web, location: str) -> Iterator[Mapping[str, Any]]:
    """Yield every execution that the UI still has, without details and plans."""
    for offset in range(0, _MOST_EXECUTIONS, _PAGE):
        params = {
            "details": "false",
            "planDescription": "false",
            "offset": offset,
            "length": _PAGE,
        }
        page = web.json(f"{location}/sql", params)
        if not isinstance(page, list):
            raise EvidenceError(
                f"{web.base}{location}/sql does not return a list of executions: pass the path of "
                "the event log instead"
            )
        yield from (e for e in page if isinstance(e, dict))
        if len(page) < _PAGE:
            return
