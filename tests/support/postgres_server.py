"""A real PostgreSQL of the tests' own: the machine's, else the one that the set-up unpacked.

HEADGATE_POSTGRES may name the folder of another one's programs (`initdb`, `postgres`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from headgate.gateway.process.free_ports import LOOPBACK
from support.ports import free_port
from support.waiting import PATIENCE, until

GIVEN = "HEADGATE_POSTGRES"
UNPACKED = Path(__file__).parents[2] / ".cache" / "postgres"
_USER = "headgate"
# It refuses to run as root, and root may be anybody.
_NOBODY = 65534
_SETTINGS = ("fsync=off", "synchronous_commit=off", "max_connections=200", "shared_buffers=16MB")


def programs() -> Path:
    """Return the folder of PostgreSQL's programs; the test fails where there is none."""
    given = os.environ.get(GIVEN)
    found = [Path(given)] if given else []
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(debian, key=lambda p: float(p.parent.name), reverse=True)
    found += UNPACKED.glob("*/pgserver/pginstall/bin")
    for folder in found:
        if os.access(folder / "initdb", os.X_OK) and os.access(folder / "postgres", os.X_OK):
            return folder
    pytest.fail(f"no PostgreSQL here: run `sh scripts/setup.sh postgres`, or set {GIVEN}")


class Postgres:
    """A running server; `database()` makes an empty database and returns its url."""

    def __init__(self, port: int) -> None:
        self._port = port

    def connect(self, name: str = "postgres") -> psycopg.Connection:
        """Return a connection that commits each statement at once."""
        return psycopg.connect(
            host=LOOPBACK, port=self._port, user=_USER, dbname=name, autocommit=True
        )

    def database(self) -> str:
        """Make a database and return the url that a registry's `[store]` names it by."""
        name = f"headgate_{uuid.uuid4().hex[:8]}"
        with closing(self.connect()) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://{_USER}@{LOOPBACK}:{self._port}/{name}"


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a server on loopback for the time of a `with` block."""
    folder, port = Path(tempfile.mkdtemp(prefix="headgate-postgres-")), free_port()
    user = _NOBODY if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, user, user)
    data, home = folder / "data", programs()
    initdb = (str(home / "initdb"), "-D", str(data), "-U", _USER, "-A", "trust", "--no-sync")
    who: dict[str, Any] = (
        {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    )
    log = (folder / "log").open("wb")
    try:
        subprocess.run(
            [*initdb, "-E", "UTF8", "--locale=C"],
            check=True,
            stdout=log,
            stderr=log,
            cwd=folder,
            **who,
        )
        settings = [w for s in (*_SETTINGS, f"unix_socket_directories={folder}") for w in ("-c", s)]
        argv = [str(home / "postgres"), "-D", str(data), "-h", LOOPBACK, "-p", str(port), *settings]
        server = subprocess.Popen(argv, stdout=log, stderr=log, cwd=folder, **who)
        try:
            yield _answering(Postgres(port), server, folder / "log")
        finally:
            # Immediate: whoever is still connected is not waited for.
            server.send_signal(signal.SIGQUIT)
            server.wait(PATIENCE)
    finally:
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _answering(postgres: Postgres, server: subprocess.Popen[bytes], log: Path) -> Postgres:
    def answers() -> bool:
        assert server.poll() is None, log.read_text()
        with suppress(psycopg.OperationalError):
            return postgres.connect().close() is None
        return False

    until(answers, log.read_text)
    return postgres
