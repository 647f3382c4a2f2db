"""A real schema registry: Apicurio, with its database in memory, over Confluent's API."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from support.fetched import fetched
from support.ports import free_port
from support.waiting import PATIENCE, until

JVM = ("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
API = "/apis/ccompat/v7"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Those of all folders; comparing paths would take a second.
    home = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(home):
            item.add_marker(pytest.mark.remote)


@pytest.fixture(scope="session")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the API; no subject is registered and nothing is checked by default."""
    (program,) = fetched("registry").glob("*-runner.jar")
    port = free_port()
    log = tmp_path_factory.mktemp("registry") / "log"
    command = ["java", *JVM, "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}"]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, "-jar", str(program)], stdout=out, stderr=out)
    try:
        until(lambda: process.poll() is not None or _answers(port), log.read_text, every=0.2)
        assert process.poll() is None, log.read_text()[-2000:]
        yield f"http://127.0.0.1:{port}{API}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", f"{API}/subjects")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
