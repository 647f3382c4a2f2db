"""Ask an HTTP interface politely: time limits, size limits, and one sentence for each failure."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import requests
from requests.exceptions import RequestException

from headgate.errors import EvidenceError, NotFoundError, UnreachableError
from headgate.gateway.files.addresses import without_secret
from headgate.text.secrets import mask_text

CONNECT, ANSWER, WHOLE = 6.0, 30.0, 300.0
"""Timeouts in seconds: for the connection, for each next part, for the whole response."""
_LARGEST = 64 << 20
_CHUNK = 256 << 10
_REDIRECTS = 3
_PORTS = {"http": 80, "https": 443}
LOOPBACK = re.compile(r"^(localhost|127\.\d+\.\d+\.\d+|::1)$")


class Web:
    """One interface at `base`, which may hold a user and a password; no message shows them."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        host = parts.netloc.rpartition("@")[2]
        self.base = urlunsplit((parts.scheme, host, parts.path, "", ""))
        self._session = requests.Session()
        if parts.username is not None:
            self._session.auth = (parts.username, parts.password or "")
        if LOOPBACK.match(parts.hostname or ""):
            self._session.trust_env = False
        self._session.headers["User-Agent"] = "headgate"

    def close(self) -> None:
        """Let go of the connections."""
        self._session.close()

    def json(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at a path below the base.

        Raises NotFoundError if there is nothing, EvidenceError if the answer isn't JSON or is a
        login page, UnreachableError if nothing answers in time.
        """
        with self._answer(path, params) as answer:
            data = bytearray()
            for chunk in _chunks(answer):
                data += chunk
                if len(data) > _LARGEST:
                    raise EvidenceError(
                        f"{self._named(path)} returned more than {_LARGEST >> 20} MiB, the most "
                        "that Headgate reads: use the application's event log instead"
                    )
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            kind = answer.headers.get("content-type", "").partition(";")[0]
            raise EvidenceError(
                f"{self._named(path)} returned {_instead(kind)}, so the address isn't Spark's REST "
                "API. Pass the address of a Spark UI (http://host:4040) or History Server"
            ) from None

    def download(self, path: str, into: IO[bytes], most: int) -> None:
        """Write what is at a path into a file; raises like `json`."""
        with self._answer(path, None) as answer:
            if "html" in answer.headers.get("content-type", ""):
                raise EvidenceError(
                    f"{self._named(path)} returned a web page instead of a file: pass the path of "
                    "the event log instead"
                )
            size = 0
            for chunk in _chunks(answer):
                size += len(chunk)
                if size > most:
                    raise EvidenceError(
                        f"{self._named(path)} is larger than {most >> 20} MiB, the most that "
                        "Headgate reads: pass the path of the event log instead"
                    )
                into.write(chunk)

    @contextmanager
    def _answer(self, path: str, params: Mapping[str, Any] | None) -> Iterator[requests.Response]:
        try:
            with self._followed(self.base + path, params) as answer:
                self._check(answer, path)
                yield answer
        except RequestException as error:
            raise UnreachableError(f"{self.base} {why(error)}") from error
        except OSError as error:
            raise UnreachableError(f"{self.base} stopped responding: {_line(error)}") from error

    def _followed(self, url: str, params: Mapping[str, Any] | None) -> requests.Response:
        """Follow redirects within the host; one to another host is a login."""
        for _ in range(_REDIRECTS + 1):
            answer = self._session.get(
                url, params=params, timeout=(CONNECT, ANSWER), stream=True, allow_redirects=False
            )
            if not answer.is_redirect:
                return answer
            to = urljoin(url, answer.headers.get("location", ""))
            answer.close()
            if not _is_same_server(url, to) or "/api/v1" not in to:
                location = mask_text(without_secret(to)).partition("?")[0]
                raise EvidenceError(
                    f"{self.base} redirects to {location}, probably a login page: use an address"
                    " without a redirect, or add USER:PASSWORD@ to the address"
                )
            url, params = to, None
        raise EvidenceError(
            f"{self.base} redirects more than {_REDIRECTS} times: use the final address"
        )

    def _check(self, answer: requests.Response, path: str) -> None:
        code = answer.status_code
        if code in (401, 403, 407):
            raise EvidenceError(
                f"{self._named(path)} denies access ({code}): add USER:PASSWORD@ to the address, "
                "or get read access for this user"
            )
        if code in (404, 410):
            said = _said(answer)
            raise NotFoundError(
                f"{self._named(path)} not found{said}. Check the address and the id of the "
                "Spark application"
            )
        if code >= 500:
            raise UnreachableError(
                f"{self._named(path)} failed with HTTP status {code}{_said(answer)}. See the "
                "server's log, then try again"
            )
        if code != 200:
            raise EvidenceError(
                f"{self._named(path)} responded with HTTP status {code}{_said(answer)}"
            )

    def _named(self, path: str) -> str:
        return f"{self.base}{path}"


def is_internal(host: str) -> bool:
    """Whether a name resolves to this machine or its link, where clouds keep credentials.

    False for an address or `localhost`: these say by themselves what they are.
    """
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return False
    if host == "localhost":
        return False
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False  # The request itself says that the name is not known.
    return any(_is_own(str(row[4][0])) for row in found)


def _is_own(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_link_local or found.is_unspecified


def _is_same_server(url: str, to: str) -> bool:
    """Whether a redirect stays on the host and port; Spark's UI moves to HTTPS 400 ports higher."""
    before, after = urlsplit(url), urlsplit(to)
    try:
        ports = [p.port or _PORTS.get(p.scheme, 0) for p in (before, after)]
    except ValueError:
        return False
    if before.hostname != after.hostname or after.scheme not in _PORTS:
        return False
    to_tls = (before.scheme, after.scheme) == ("http", "https")
    return ports[0] == ports[1] or (to_tls and ports[1] in (443, ports[0] + 400))


def _chunks(answer: requests.Response) -> Iterator[bytes]:
    deadline = time.monotonic() + WHOLE
    for chunk in answer.iter_content(_CHUNK):
        if time.monotonic() > deadline:
            raise UnreachableError(
                f"{answer.url.partition('?')[0]} took longer than {WHOLE:.0f} s: pass the path of "
                "the event log instead"
            )
        yield chunk


def _said(answer: requests.Response) -> str:
    """Return the first words of a plain answer; a page's are for browsers."""
    if "text/plain" not in answer.headers.get("content-type", ""):
        return ""
    text = answer.raw.read(300, decode_content=True).decode("utf-8", "replace")
    return f": {' '.join(text.split())}" if text.strip() else ""


def why(error: RequestException) -> str:
    """Return what went wrong with a connection, in words."""
    text = str(error)
    if isinstance(error, requests.exceptions.SSLError):
        if "WRONG_VERSION_NUMBER" in text or "record layer" in text:
            return "does not speak TLS: try http://"
        return (
            "has a certificate that this machine doesn't trust: set REQUESTS_CA_BUNDLE to the"
            " file of its CA"
        )
    if isinstance(error, requests.exceptions.ProxyError):
        return "is not reachable through the proxy: check HTTPS_PROXY and NO_PROXY"
    if isinstance(error, requests.exceptions.Timeout):
        return "did not respond in time"
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return f"is not a valid address: {_line(error)}"
    for sign, words in _SIGNS.items():
        if sign in text:
            return words
    return f"did not respond: {_line(error)}"


def _instead(kind: str) -> str:
    """Return in words what an answer of this content type is, if it isn't JSON."""
    if "html" in kind:
        return "a web page, such as a login page"
    return f"{kind} instead of JSON" if kind and "json" not in kind else "invalid JSON"


def _line(error: Exception) -> str:
    return mask_text(" ".join(str(error).split()))[:200]


_SIGNS = {
    "Connection refused": "refuses the connection: no server listens on this port",
    "Name or service not known": "has an unknown host name",
    "Failed to resolve": "has an unknown host name",
    "No route to host": "is not reachable from this machine",
    "Network is unreachable": "is not reachable from this machine",
    "BadStatusLine": "does not speak HTTP: try https://",
    "Connection aborted": "closed the connection at once: try https:// instead of http://",
}
