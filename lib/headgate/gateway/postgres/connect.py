"""Connect to a database that headgate.toml declares by a JDBC url, as libpq does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote

from headgate.errors import RefusedError, StepError, UnreachableError
from headgate.text.secrets import mask_text

_SCHEME = "jdbc:postgresql:"
_TIMEOUT_S = 10
# Longer than a query takes, shorter than a person waits.
_LOCK_MS = 60_000
# The driver's names of what libpq calls otherwise. Source: pgjdbc's PGProperty, 42.7.
_SAME = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "loginTimeout": "connect_timeout",
}
# What only concerns how the driver reads and writes rows.
_OF_ROWS = frozenset(
    {
        *("reWriteBatchedInserts", "defaultRowFetchSize", "prepareThreshold", "stringtype"),
        *("binaryTransfer", "tcpKeepAlive", "socketTimeout", "preparedStatementCacheQueries"),
        *("preparedStatementCacheSizeMiB", "logUnclosedConnections", "assumeMinServerVersion"),
    }
)
# So that a row's text is the same in each session.
_TEXT = {
    "DateStyle": "ISO",
    "TimeZone": "UTC",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
}


@contextmanager
def connected(name: str, settings: Mapping[str, str] | None) -> Iterator[Any]:
    """Return a connection in a transaction, committed at the end of the block.

    `settings` are those of `[jdbc.NAME]`. RefusedError: they are not for this. UnreachableError:
    the server did not accept the connection. StepError: it refused a statement; nothing of the
    transaction is left then.
    """
    import psycopg

    given = connection_arguments(name, settings)
    try:
        connection = psycopg.connect(**given)
    except (psycopg.Error, UnicodeError) as error:
        raise UnreachableError(
            f"database {name} can't be reached: {_line(error)}. Check [jdbc.{name}] in "
            "headgate.toml, and that the server runs"
        ) from None
    # Whatever the database's default is: after a lock, a statement must see what was committed.
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    try:
        with connection:
            _prepare(connection)
            yield connection
    except psycopg.errors.LockNotAvailable:
        raise StepError(
            f"another session of database {name} holds a lock that Headgate needs on the table "
            f"(waited {_LOCK_MS // 1000} s). End that session (pg_blocking_pids shows it), then "
            "try again"
        ) from None
    except psycopg.Error as error:
        if isinstance(error, psycopg.OperationalError) and _is_gone(error.sqlstate):
            raise UnreachableError(
                f"database {name} closed the connection: {_line(error)}. Check the server, then "
                "try again"
            ) from None
        raise StepError(
            f"database {name} refused a statement: {_line(error).rstrip('.')}. Check the user's "
            "privileges and the server's log, then try again"
        ) from None


def connection_arguments(name: str, settings: Mapping[str, str] | None) -> dict[str, Any]:
    """Return what libpq takes; RefusedError for a url that it can't."""
    if settings is None:
        raise RefusedError(
            f"no database {name} is declared: add [jdbc.{name}] with `url` to headgate.toml"
        )
    url = settings["url"]
    if not url.startswith(_SCHEME):
        raise RefusedError(
            f"[jdbc.{name}]: Headgate writes only to PostgreSQL. Set `url` to {_SCHEME}//..., or "
            "write to a folder or a topic"
        )
    location, _, query = url.removeprefix(_SCHEME).partition("?")
    found: dict[str, Any] = {"connect_timeout": _TIMEOUT_S, "application_name": "headgate"}
    found |= _server(location)
    for key, value in parse_qsl(query, keep_blank_values=True):
        found |= _parameter(name, key, value)
    return found | {key: settings[key] for key in ("user", "password") if key in settings}


def _server(location: str) -> dict[str, Any]:
    """Return hosts, ports and database of `//HOST:PORT,HOST:PORT/DATABASE` or `DATABASE`."""
    if not location.startswith("//"):
        return {"host": "localhost", "dbname": unquote(location.strip("/"))} if location else {}
    hosts, _, database = location.removeprefix("//").partition("/")
    pairs = [_host_and_port(one) for one in hosts.split(",")]
    found = {"host": ",".join(h for h, _ in pairs), "port": ",".join(p for _, p in pairs)}
    return found | ({"dbname": unquote(database)} if database else {})


def _host_and_port(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":") or "5432"
    host, _, port = text.partition(":")
    return host or "localhost", port or "5432"


def _parameter(name: str, key: str, value: str) -> dict[str, str]:
    if key in _SAME:
        return {_SAME[key]: value}
    if key == "ssl":
        return {"sslmode": "verify-full"} if value != "false" else {}
    if key == "currentSchema":
        return {"options": f"-csearch_path={value.replace(' ', '')}"}
    if key in _OF_ROWS:
        return {}
    raise RefusedError(
        f"[jdbc.{name}]: `url` has the parameter {key}, with which Headgate can't write to tables. "
        "Declare the database a second time without this parameter"
    )


def _prepare(connection: Any) -> None:
    """Bound the waiting for locks, and fix how rows look as text."""
    for setting, value in {**_TEXT, "lock_timeout": str(_LOCK_MS)}.items():
        connection.execute("SELECT set_config(%s, %s, true)", (setting, value))
    # Since version 14: the server notices that a killed worker is gone.
    connection.execute(
        "SELECT set_config(name, '5s', true) FROM pg_settings "
        "WHERE name = 'client_connection_check_interval'"
    )


def _is_gone(state: str | None) -> bool:
    """Whether an error's code is that of a lost connection; libpq itself gives none."""
    return state is None or state.startswith(("08", "57P"))


def _line(error: Exception) -> str:
    """Return what the server, or libpq in its first line, said: without secrets and final stop."""
    diagnostic = getattr(error, "diag", None)
    said = getattr(diagnostic, "message_primary", None) or str(error).strip().partition("\n")[0]
    detail = getattr(diagnostic, "message_detail", None)
    text = " ".join(f"{said} ({detail})".split() if detail else said.split())
    return mask_text(text).rstrip(".")
