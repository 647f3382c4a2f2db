"""How an output is named: a path, `kafka:TOPIC[@FROM..TO]` or `jdbc:NAME.TABLE`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.errors import OutputError

EARLIEST, LATEST = "earliest", "latest"
KAFKA, JDBC = "kafka:", "jdbc:"
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
# Only names: what else a database takes as a table (a subquery) would run whatever it says.
_TABLE = re.compile(r'(?:[\w$]+|"[^"]+")(?:\.(?:[\w$]+|"[^"]+")){0,2}')
_CONNECTION = re.compile(r"[\w-]+")
_PARTS = re.compile(r"\d+:\d+(?:,\d+:\d+)*", re.ASCII)
_POSITION = (
    "an offset, PARTITION:OFFSET pairs with commas between them, a time such as "
    "2026-11-25T12:00:00Z, earliest or latest"
)


@dataclass(frozen=True, slots=True)
class FileOutput:
    """A file, a folder of files, a Delta table or the folder of Spark's file sink."""

    path: str


@dataclass(frozen=True, slots=True)
class TopicOutput:
    """A range of a topic; `start` and `end` hold for every partition, `end` is exclusive.

    Each is an offset, offsets by partition (others then have no record of the range), a time (then
    the first record at or after it), or one of EARLIEST, LATEST.
    """

    topic: str
    start: int | Mapping[int, int] | datetime | str = EARLIEST
    end: int | Mapping[int, int] | datetime | str = LATEST


@dataclass(frozen=True, slots=True)
class TableOutput:
    """A table of a database; `connection` is the NAME of `[jdbc.NAME]` in headgate.toml."""

    connection: str
    table: str


OutputAddress = FileOutput | TopicOutput | TableOutput


def parse_address(text: str) -> OutputAddress:
    """Return what an address names; OutputError says what was expected."""
    if text.startswith(KAFKA):
        return _topic(text)
    if text.startswith(JDBC):
        return _table(text)
    if not text.strip() or "\0" in text:
        raise OutputError(
            "the output is empty or invalid: pass a path, kafka:TOPIC or jdbc:NAME.TABLE"
        )
    return FileOutput(text)


def _topic(text: str) -> TopicOutput:
    topic, sign, given = text.removeprefix(KAFKA).partition("@")
    if not _TOPIC.fullmatch(topic):
        raise OutputError(f"{text} has no topic name: write kafka:TOPIC or kafka:TOPIC@FROM..TO")
    start, dots, end = given.partition("..")
    if sign and not dots:
        raise OutputError(f"{text} has no range: write kafka:TOPIC@FROM..TO")
    return TopicOutput(topic, _position(text, start or EARLIEST), _position(text, end or LATEST))


def _position(text: str, given: str) -> int | Mapping[int, int] | datetime | str:
    if given in (EARLIEST, LATEST):
        return given
    if given.isascii() and given.isdecimal():
        return int(given)
    if _PARTS.fullmatch(given):
        pairs = (pair.split(":") for pair in given.split(","))
        return {int(part): int(offset) for part, offset in pairs}
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise OutputError(f"{text}: expected {_POSITION}, found {given!r}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _table(text: str) -> TableOutput:
    name, dot, table = text.removeprefix(JDBC).partition(".")
    if not dot or not _CONNECTION.fullmatch(name) or not _TABLE.fullmatch(table):
        raise OutputError(
            f"{text} isn't a table: write jdbc:NAME.TABLE or jdbc:NAME.SCHEMA.TABLE, with a NAME "
            "that headgate.toml declares as [jdbc.NAME]"
        )
    return TableOutput(name, table)
