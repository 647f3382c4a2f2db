"""What an address may answer that is no Spark: one sentence each, with the right exit code."""

from __future__ import annotations

import http.server
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from headgate.errors import EvidenceError, HeadgateError, NotFoundError, UnreachableError
from headgate.gateway.files.addresses import is_web
from headgate.gateway.http import client as web
from headgate.gateway.http.client import Web
from headgate.gateway.spark.rest_api import read_spark_rest
from headgate.parse.spark.event_log.rest_api import RestAddress, rest_address, wanted_executions

pytestmark = pytest.mark.slow

APPLICATION = {"id": "app-1", "name": "a", "attempts": [{"completed": False}]}
Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(answer: Callable[[str, dict[str, str]], Answer], context=None) -> Iterator[str]:
    """A real server on loopback that answers as it is told."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, headers, body = answer(self.path, dict(self.headers))
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        scheme = "https" if context else "http"
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def of_json(value: object) -> Answer:
    return 200, {"content-type": "application/json"}, json.dumps(value).encode()


def of_page(code: int = 200) -> Answer:
    return code, {"content-type": "text/html;charset=utf-8"}, b"<html>Please log in</html>"


def redirect(to: str) -> Answer:
    return 302, {"location": to}, b""


CASES = [
    ("a log-in page", of_page(), EvidenceError, "a web page, such as a login page"),
    (
        "a redirect to one",
        redirect("https://sso.example/login?next=secret"),
        EvidenceError,
        "redirects to https://sso.example/login, probably a login page",
    ),
    (
        "a redirect in a circle",
        redirect("/api/v1/applications"),
        EvidenceError,
        "redirects more than",
    ),
    (
        "a redirect to another port",
        redirect("http://127.0.0.1:9/api/v1/applications"),
        EvidenceError,
        "redirects to http://127.0.0.1:9/api/v1/applications",
    ),
    (
        "a redirect to the link",
        redirect("http://169.254.169.254/api/v1/applications"),
        EvidenceError,
        "redirects to http://169.254.169.254/api/v1/applications",
    ),
    ("another server", of_page(404), EvidenceError, "no Spark REST API"),
    (
        "another interface",
        of_json({"version": 1}),
        EvidenceError,
        "does not return a list of Spark applications",
    ),
    (
        "a list of else",
        of_json([{"id": 7}]),
        EvidenceError,
        "does not return a list of Spark applications",
    ),
    ("nothing in it", of_json([]), EvidenceError, "lists no Spark application"),
    ("no right", of_page(403), EvidenceError, "denies access (403)"),
    ("a failure", of_page(503), UnreachableError, "failed with HTTP status 503"),
    ("no JSON", (200, {"content-type": "text/plain"}, b"[{"), EvidenceError, "text/plain instead"),
    (
        "JSON cut off",
        (200, {"content-type": "application/json"}, b"[{"),
        EvidenceError,
        "returned invalid JSON, so the address isn't",
    ),
    ("no content type", (200, {}, b"[{"), EvidenceError, "returned invalid JSON, so"),
    (
        "several",
        of_json([APPLICATION, {**APPLICATION, "id": "app-2"}]),
        EvidenceError,
        "with one of these ids: app-1 (a), app-2 (a)",
    ),
]


@pytest.mark.parametrize(
    ("answer", "kind", "says"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_no_spark_is_one_sentence(answer, kind, says):
    with serving(lambda *_: answer) as url, pytest.raises(kind) as caught:
        read_spark_rest(url)
    assert says in str(caught.value) and "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_huge_answer_ends_early(monkeypatch):
    monkeypatch.setattr(web, "_LARGEST", 1 << 20)
    answer = 200, {"content-type": "application/json"}, b"[" + b" " * (3 << 20) + b"]"
    with serving(lambda *_: answer) as url, pytest.raises(EvidenceError, match="more than 1 MiB"):
        read_spark_rest(url)


def test_silence_ends(monkeypatch):
    monkeypatch.setattr(web, "ANSWER", 0.5)

    def slow(*_: object) -> Answer:
        time.sleep(1.5)  # longer than an answer is waited for
        return of_json([])

    with serving(slow) as url, pytest.raises(UnreachableError, match="did not respond in time"):
        read_spark_rest(url)


def test_a_password_is_sent_and_never_shown():
    seen = []

    def asked(path: str, headers: dict[str, str]) -> Answer:
        seen.append(headers.get("Authorization"))
        return of_page(401)

    with serving(asked) as url, pytest.raises(HeadgateError) as caught:
        read_spark_rest(url.replace("//", "//me:geheim@"))
    assert seen == ["Basic bWU6Z2VoZWlt"]
    assert "geheim" not in str(caught.value) and "USER:PASSWORD@" in str(caught.value)


def test_an_unknown_certificate_is_not_accepted(tmp_path):
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=x",
        "-days",
        "1",
    ]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with (
        serving(lambda *_: of_json([]), context) as url,
        pytest.raises(UnreachableError, match="certificate that this machine doesn't trust"),
    ):
        read_spark_rest(url)


def test_what_is_not_there_is_told_in_the_servers_words():
    answer = 404, {"content-type": "text/plain"}, b"unknown app: <b>x"
    with serving(lambda *_: answer) as url, pytest.raises(NotFoundError, match="unknown app: <b>x"):
        Web(url).json("/api/v1/applications/x")


ADDRESSES = [
    ("http://h:4040", RestAddress("http://h:4040")),
    ("http://h:4040/", RestAddress("http://h:4040")),
    ("HTTP://h:4040/jobs/", RestAddress("http://h:4040")),
    ("http://h:4040/StreamingQuery/statistics/?id=1", RestAddress("http://h:4040")),
    ("http://h/history/app-1/2/SQL/", RestAddress("http://h", "app-1", "2")),
    ("http://h/gate/history/app-1/jobs/", RestAddress("http://h/gate", "app-1")),
    ("http://h/api/v1/applications/app-1/sql?x=1", RestAddress("http://h", "app-1")),
    ("http://h/api/v1", RestAddress("http://h")),
    (
        "http://rm:8088/proxy/application_1_2/jobs/",
        RestAddress("http://rm:8088/proxy/application_1_2", "application_1_2"),
    ),
    ("https://u:p@h/spark?x#y", RestAddress("https://u:p@h/spark")),
]


@pytest.mark.parametrize(("url", "address"), ADDRESSES)
def test_any_page_leads_to_the_interface(url, address):
    assert is_web(url)
    assert rest_address(url) == address


@pytest.mark.parametrize("path", ["http.txt", "kafka:http://x", "s3://http", "./http://x"])
def test_other_evidence_is_no_address(path):
    assert not is_web(path)


def batch(number: int, run: str, execution: int, **more: object) -> dict[str, object]:
    description = f"q\nid = i\nrunId = {run}\nbatch = {number}"
    return {"id": execution, "description": description, "rootExecutionId": execution, **more}


def test_the_newest_done_batches_of_each_run_are_asked_for():
    listed = [batch(n, "r1", n) for n in range(10)]
    listed += [batch(0, "r2", 20), batch(1, "r2", 21, status="FAILED")]
    listed += [batch(9, "r1", 30, rootExecutionId=9), {"id": 31, "description": "a job of mine"}]
    assert wanted_executions(listed) == [6, 7, 8, 9, 20]
