"""The console's server: who may ask, what a browser may do with it, and whom it asks itself."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from browser.conftest import ROOT, _wait
from support.ports import free_port
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def ask(console: str, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    """Ask for a path; `Host` is the console's own where none is given."""
    at = urlsplit(console)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": at.netloc, **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    return connection.getresponse()


def handshake(console: str, **headers: str) -> int:
    """Return how the server answers the beginning of a real websocket."""
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    more = {"Sec_WebSocket_Key": KEY, "Sec_WebSocket_Protocol": "streamlit"}
    return ask(console, "/_stcore/stream", **upgrade, **more, **headers).status


def test_only_the_consoles_own_name_opens_a_websocket(console):
    port = urlsplit(console).port
    assert handshake(console, Origin=console) == 101
    assert handshake(console) == 101
    local = f"localhost:{port}"
    assert handshake(console, Host=local, Origin=f"http://{local}") == 101
    evil = f"evil.example:{port}"
    assert handshake(console, Host=evil, Origin=f"http://{evil}") == 403
    assert handshake(console, Host=evil) == 403
    for origin in (f"http://{evil}", f"http://localhost:{port}", "null", "http://127.0.0.1:9"):
        assert handshake(console, Origin=origin) == 403, origin


@pytest.mark.parametrize(
    "path", ["/", "/_stcore/health", "/_stcore/host-config", "/static/x.js", "/_stcore/metrics"]
)
def test_no_other_name_gets_an_answer(console, path):
    port = urlsplit(console).port
    assert ask(console, path, Host=f"evil.example:{port}").status == 403
    assert ask(console, path, Host=f"127.0.0.1.evil.example:{port}").status == 403
    assert ask(console, path, Origin="http://evil.example").status == 403


def test_every_answer_has_the_headers_and_metrics_are_off(console):
    for path in ("/", "/_stcore/health", "/landscape", "/static/missing.js"):
        found = ask(console, path).headers
        assert found["x-frame-options"] == "DENY", path
        assert found["x-content-type-options"] == "nosniff", path
        policy = found["content-security-policy"]
        assert "frame-ancestors 'none'" in policy and "object-src 'none'" in policy
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    answer = ask(console, "/_stcore/metrics")
    assert (answer.status, b"metrics = true" in answer.read()) == (404, True)


def test_metrics_on_request_and_nobody_outside_is_asked(tmp_path):
    """Every way out leads to a listener here, which hears of each request."""
    (tmp_path / "headgate.toml").write_text("[console]\nmetrics = true\n")
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_hear, args=(listener, heard), daemon=True).start()
        port = free_port()
        way_out = f"http://127.0.0.1:{listener.getsockname()[1]}"
        proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), way_out)
        env = {**os.environ, **proxies, "HEADGATE_CONFIG": str(tmp_path / "headgate.toml")}
        env.pop("no_proxy", None), env.pop("NO_PROXY", None)
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true",
                   "--server.port", str(port), "--server.fileWatcherType", "none"]  # fmt: skip
        with (tmp_path / "log").open("wb") as log:
            server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
            try:
                console = f"http://127.0.0.1:{port}"
                _wait(f"{console}/_stcore/health", server)
                assert handshake(console, Origin="http://evil.example") == 403
                assert handshake(console, Origin=console) == 101
                assert ask(console, "/_stcore/metrics").status == 200
            finally:
                server.terminate()
                server.wait(PATIENCE)
    assert heard == []


def _hear(listener: socket.socket, heard: list[bytes]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        heard.append(connection.recv(4096))
        connection.close()
