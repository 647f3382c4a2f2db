"""The lines that a watch writes, decoded: one record of one run each."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.parse.spark.watch.mark import SCHEMA, is_watch

_LONGEST_LINE = 64 << 20


class WatchLine(msgspec.Struct, rename={"run": "runId", "error_class": "errorClass"}):
    """One record; what an event does not have is at its default.

    `at` is when the driver reported it, ISO 8601 in UTC. `dropped` records of the run before this
    one were lost. `batch` and `text` are of a plan, `progress` is Spark's own report. `reason` is
    why a watch ended before its query reported an end, `over` that the query ended with it.
    `answer` is what a driver says to the request of that `nonce`.
    """

    event: str
    id: str
    run: str
    at: str
    headgate: str
    schema: int
    dropped: int = 0
    name: str | None = None
    joined: bool = False
    session: str | None = None
    spark: str | None = None
    application: str | None = None
    applicationName: str | None = None
    settings: dict[str, Any] = {}
    driver: dict[str, Any] = {}
    capture: msgspec.Raw = msgspec.Raw(b"null")
    logical: msgspec.Raw = msgspec.Raw(b"null")
    batch: int | None = None
    text: str | None = None
    progress: msgspec.Raw = msgspec.Raw(b"null")
    exception: str | None = None
    error_class: str | None = None
    reason: str | None = None
    nonce: str | None = None
    answer: str | None = None
    over: bool = False


class _Schema(msgspec.Struct):
    schema: int


_DECODER = msgspec.json.Decoder(WatchLine)
_SCHEMA = msgspec.json.Decoder(_Schema)


def decode_line(data: bytes) -> WatchLine:
    """Return the record; ValueError says why a line is none."""
    if len(data) > _LONGEST_LINE:
        raise ValueError("longer than any record of headgate.watch")
    if not is_watch(data):
        raise ValueError("not a record of headgate.watch")
    try:
        found = _SCHEMA.decode(data).schema
        if found != SCHEMA:
            raise ValueError(f"schema is {found}, but this release reads only schema {SCHEMA}")
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
