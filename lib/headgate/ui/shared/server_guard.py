"""The guard of the console's server: who may send requests, and what a browser may do with it.

A page of another site reaches a server on loopback by a name that it rebinds. So a request's Host
must be one that the console is known by, and its Origin the same.
"""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from headgate.errors import HeadgateError
from headgate.usecases.context import open_context

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

_METRICS = "/_stcore/metrics"
_INLINE = re.compile(r"<script>(?P<code>.*?)</script>", re.DOTALL)


def _hashes() -> str:
    """Return the hashes of the scripts in Streamlit's own page: no others run."""
    page = (files("streamlit") / "static" / "index.html").read_text("utf-8")
    found = (m["code"].encode() for m in _INLINE.finditer(page))
    return " ".join(f"'sha256-{b64encode(sha256(code).digest()).decode()}'" for code in found)


# Streamlit's page has styles in attributes, and its charts make functions of texts.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        f"script-src 'self' 'unsafe-eval' blob: {_hashes()}".rstrip(),
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' blob: data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
_REFUSED = (
    "The console doesn't accept this host or origin. In .streamlit/config.toml, add the host to "
    "server.allowedHosts. If the browser's origin differs from the host, add the origin to "
    "server.corsAllowedOrigins.\n"
)
_NO_METRICS = "Metrics are off. Set `metrics = true` in [console] of headgate.toml.\n"


def guards() -> tuple[Middleware, ...]:
    """Return the console's middleware for `streamlit.starlette.App`."""
    return (Middleware(Guard, metrics=_has_metrics()),)


class Guard:
    """Refuses foreign hosts and origins, hides metrics, and adds the headers to every answer."""

    def __init__(self, app: Asgi, *, metrics: bool = False) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it to Streamlit."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        found = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not is_ours(found.get("host"), found.get("origin")):
            await _refuse(kind, send, 403, _REFUSED)
        elif scope["path"].endswith(_METRICS) and not self._metrics:
            await _refuse(kind, send, 404, _NO_METRICS)
        else:
            await self._app(scope, receive, _with_headers(send))


def is_ours(host: str | None, origin: str | None) -> bool:
    """Return whether a request's Host is one of the console's, and its Origin the same.

    Without `server.allowedHosts` only loopback is. `server.corsAllowedOrigins` lists more origins.
    """
    if host is None or not is_host_allowed(host):
        return False
    if not config.get_option("server.allowedHosts") and not _is_loopback(host):
        return False
    if origin is None or urlsplit(origin).netloc.lower() == host.lower():
        return True
    return origin in {o.strip() for o in config.get_option("server.corsAllowedOrigins")}


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _has_metrics() -> bool:
    """Return whether headgate.toml enables metrics; one that can't be read doesn't."""
    try:
        return open_context().registry.console_metrics
    except HeadgateError:
        return False


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name for name, _ in HEADERS}
            kept = [h for h in message.get("headers", ()) if h[0].lower() not in ours]
            message = {**message, "headers": [*kept, *HEADERS]}
        await send(message)

    return sent


async def _refuse(kind: str, send: Send, code: int, why: str) -> None:
    if kind == "websocket":
        # Before it is accepted: the handshake ends with 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    plain = (b"content-type", b"text/plain; charset=utf-8")
    head = {"type": "http.response.start", "status": code, "headers": [plain, *HEADERS]}
    await send(head)
    await send({"type": "http.response.body", "body": why.encode()})
