"""Whatever answers under the registry's address, there is one clear sentence."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from headgate.errors import HeadgateError, SchemaError, UnreachableError
from headgate.gateway.schema_registry import client as schema_registry
from headgate.gateway.schema_registry.client import SchemaRegistry
from headgate.parse.topic_schemas.read import LONGEST, read_schema

JSON, HTML = "application/vnd.schemaregistry.v1+json", "text/html"
ITEM = '{"type":"record","name":"Item","fields":[{"name":"order","type":"Order"}]}'
ORDER = '{"type":"record","name":"Order","fields":[{"name":"item","type":"Item"}]}'


class Answers(BaseHTTPRequestHandler):
    """A web server with fixed answers: what a proxy or a broken registry sends."""

    table: ClassVar[dict[str, tuple[int, str, bytes]]] = {}
    pause = 0.0

    def do_GET(self) -> None:
        status, kind, body = self.table.get(
            self.path.partition("?")[0], (404, HTML, b"<h1>Not Found</h1>")
        )
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for part in (body[i : i + 1] for i in range(len(body))) if self.pause else (body,):
            try:
                self.wfile.write(part)
                self.wfile.flush()
            except OSError:
                return
            time.sleep(self.pause)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def answering():
    servers = []

    def start(table, pause=0.0):
        made = {
            p: (s, k, b if isinstance(b, bytes) else b.encode()) for p, (s, k, b) in table.items()
        }
        handler = type("Fixed", (Answers,), {"table": made, "pause": pause})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return SchemaRegistry(f"http://127.0.0.1:{server.server_port}", {})

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def version(text, references=(), subject="orders-value"):
    body = {
        "subject": subject,
        "version": 1,
        "id": 7,
        "schema": text,
        "references": [{"name": n, "subject": s, "version": 1} for n, s in references],
    }
    return (200, JSON, json.dumps(body))


def said(error: pytest.ExceptionInfo[HeadgateError]) -> str:
    text = str(error.value)
    assert "\n" not in text and "<" not in text and len(text) < 400
    return text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, JSON, '{"error_code": 401, "message": "who?"}'), "denies access (401)"),
        ((403, HTML, "<h1>Forbidden</h1>"), "denies access (403)"),
        ((200, HTML, "<html><body>Log in</body></html>"), "doesn't support Confluent's API"),
        ((404, HTML, "<html>nothing</html>"), "doesn't support Confluent's API"),
        ((200, JSON, '{"subjects": []}'), "doesn't support Confluent's API"),
        ((200, JSON, "null"), "doesn't support Confluent's API"),
        (
            (500, JSON, '{"error_code": 50001, "message": "disk is full"}'),
            "HTTP status 500 for the list of subjects: disk is full",
        ),
        ((503, HTML, "<h1>Busy</h1>"), "doesn't support Confluent's API"),
    ],
    ids=["401", "403", "page", "404", "object", "null", "500", "503"],
)
def test_an_answer_that_is_none(answering, answer, words):
    registry = answering({"/subjects": answer})
    with pytest.raises(UnreachableError) as error:
        registry.subjects()
    assert words in said(error)


def test_nobody_answers():
    with pytest.raises(UnreachableError) as error:
        SchemaRegistry("http://127.0.0.1:1", {}).subjects()
    assert "http://127.0.0.1:1 does not respond" in said(error)


def test_an_answer_that_drips(answering, monkeypatch):
    monkeypatch.setattr(schema_registry, "WHOLE", 0.5)
    registry = answering({"/subjects": (200, JSON, json.dumps(["x" * 200]))}, pause=0.1)
    with pytest.raises(UnreachableError) as error:
        registry.subjects()
    assert "no response within" in said(error)


def test_a_version_that_lacks_its_schema(answering):
    registry = answering(
        {
            "/subjects/orders-value/versions": (200, JSON, "[1]"),
            "/subjects/orders-value/versions/1": (200, JSON, "{}"),
        }
    )
    with pytest.raises(UnreachableError) as error:
        registry.versions("orders-value")
    assert "(requested: version 1 of orders-value)" in said(error)


def test_a_huge_schema(answering):
    registry = answering(
        {
            "/subjects/orders-value/versions": (200, JSON, "[1]"),
            "/subjects/orders-value/versions/1": version('"' + "x" * (LONGEST + 1) + '"'),
        }
    )
    with pytest.raises(SchemaError) as error:
        read_schema(registry.versions("orders-value")[0].text)
    assert (
        said(error) == "orders-value version 1 is larger than 8 MiB, the most that Headgate reads"
    )


def test_a_reference_that_is_not_there(answering):
    registry = answering(
        {
            "/subjects/orders-value/versions": (200, JSON, "[1]"),
            "/subjects/orders-value/versions/1": version(ORDER, [("Item", "item")]),
            "/subjects/item/versions/1": (404, JSON, '{"error_code": 40401, "message": "gone"}'),
        }
    )
    with pytest.raises(SchemaError) as error:
        registry.versions("orders-value")
    assert "orders-value version 1 references version 1 of item (Item), but" in said(error)


def test_references_in_a_circle_end(answering):
    registry = answering(
        {
            "/subjects/orders-value/versions": (200, JSON, "[1]"),
            "/subjects/orders-value/versions/1": version(ORDER, [("Item", "item")]),
            "/subjects/item/versions/1": version(ITEM, [("Order", "orders-value")], "item"),
        }
    )
    (found,) = registry.versions("orders-value")
    with pytest.raises(SchemaError) as error:
        read_schema(found.text)
    assert "isn't an Avro schema" in said(error)
