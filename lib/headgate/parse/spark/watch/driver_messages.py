"""Requests to a watched driver: written by Headgate, believed only whole, fresh and signed.

A request names one run of one query (Spark's run id is another one after each start), so that none
can be used again once that run has ended, and it expires within minutes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime

from headgate.parse.spark.watch.mark import SCHEMA

STOP = "stop"
EVENT = "request"
FOLDER = ".control"
"""Subfolder of the watch folder, with one file for each request. The nonce is the file name."""
LONGEST = 600.0
"""Maximum validity of a request in seconds. Headgate rejects a request with a longer validity."""
LARGEST = 8 << 10
_FIELDS = ("do", "id", "runId", "nonce", "expires")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequest:
    """What a driver is asked: `expires` is ISO 8601 in UTC, `mac` empty where nothing is signed."""

    do: str
    query: str
    run: str
    nonce: str
    expires: str
    mac: str = ""

    def signed(self, token: str) -> ControlRequest:
        """Return the request with its signature."""
        return ControlRequest(
            do=self.do,
            query=self.query,
            run=self.run,
            nonce=self.nonce,
            expires=self.expires,
            mac=self._mac(token),
        )

    def problem(self, token: str | None, now: float) -> str | None:
        """Return why it is not to be believed, None where it is; `now` in seconds since 1970."""
        if self.do != STOP:
            return f"unknown request {self.do!r}"
        try:
            left = datetime.fromisoformat(self.expires).timestamp() - now
        except (ValueError, OverflowError):
            return "the request has an invalid expiry time"
        if left < 0:
            return "the request has expired"
        if left > LONGEST:
            return (
                f"the request is valid for longer than {LONGEST:.0f} s. Check the clocks of the "
                "Spark driver and of the machine with Headgate"
            )
        if token is not None and not hmac.compare_digest(self.mac, self._mac(token)):
            return "the request isn't signed with this watch's token"
        return None

    def line(self) -> bytes:
        """Return the request as one line."""
        found = {
            "headgate": "watch",
            "schema": SCHEMA,
            "event": EVENT,
            "id": self.query,
            "runId": self.run,
            "at": "",
            "do": self.do,
            "nonce": self.nonce,
            "expires": self.expires,
            "mac": self.mac,
        }
        return (json.dumps(found, separators=(",", ":")) + "\n").encode()

    def _mac(self, token: str) -> str:
        said = "\n".join((self.do, self.query, self.run, self.nonce, self.expires))
        return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


def read_request(data: bytes) -> ControlRequest | None:
    """Return the request in a line; None where it is something else."""
    if len(data) > LARGEST or b'"request"' not in data:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("event") != EVENT or found.get("schema") != SCHEMA:
        return None
    values = [found.get(name) for name in (*_FIELDS, "mac")]
    if not all(isinstance(v, str) and v.isascii() for v in values):
        return None
    do, query, run, nonce, expires, mac = map(str, values)
    return ControlRequest(do=do, query=query, run=run, nonce=nonce, expires=expires, mac=mac)
