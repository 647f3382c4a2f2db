"""Paths into JSON answers: `a.b`, `a[0]`, `a[*].b`, `a[name=x].b`, and nothing more.

A name with characters other than letters, digits, `_` and `-` is in quotes: `a."b.c"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_PART = re.compile(
    r"""\.?(?:(?P<name>[\w-]+)|"(?P<quoted>[^"]+)")"""
    r"|\[(?:(?P<index>-?\d+)|(?P<all>\*)|(?P<key>[\w.-]+)=(?P<value>[^\]]*))\]"
)
_Take = Callable[[Any], Iterator[Any]]


def json_path(path: str) -> Callable[[Any], list[Any]]:
    """Return what finds everything at `path` in a JSON value; ValueError says what is wrong.

    >>> json_path("runs[state=on].id")({"runs": [{"state": "on", "id": 7}]})
    [7]
    """
    parts = tuple(_parts(path))

    def find(value: Any) -> list[Any]:
        found = [value]
        for take in parts:
            found = [inner for each in found for inner in take(each)]
        return found

    return find


def words_at(path: str, answer: Any) -> tuple[str, ...]:
    """Return the values at `path` as words, without null and empty texts, lists and objects.

    A list or an object that isn't empty is returned as JSON.
    """
    return tuple(_word(v) for v in json_path(path)(answer) if v not in (None, "", [], {}))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _parts(path: str) -> Iterator[_Take]:
    at = 0
    while at < len(path):
        match = _PART.match(path, at)
        if match is None or (at == 0 and path.startswith(".")):
            raise ValueError(f"expected a path such as a.b[0].c, found {path!r}")
        at = match.end()
        yield _taker(match)


def _taker(match: re.Match[str]) -> _Take:
    if match["all"]:
        return lambda value: iter(value if isinstance(value, list) else ())
    if match["index"] is not None:
        return _at_index(int(match["index"]))
    if match["key"] is not None:
        return _where(match["key"], match["value"].strip("'\""))
    return _named(match["name"] or match["quoted"])


def _at_index(index: int) -> _Take:
    return lambda value: iter(value[index:][:1] if isinstance(value, list) else ())


def _named(name: str) -> _Take:
    return lambda value: iter([value[name]] if isinstance(value, dict) and name in value else ())


def _where(key: str, wanted: str) -> _Take:
    inner = json_path(key)

    def take(value: Any) -> Iterator[Any]:
        rows = value if isinstance(value, list) else [value]
        return (row for row in rows if wanted in map(_word, inner(row)))

    return take
