"""A TOML table whose keys are read with their types, and whose errors name line and reason.

By hand, not by msgspec: structs for the same tables took 140 lines more (1237, not 1099). msgspec's
errors have no line, no nearest key and no words of ours, and name no key of a free mapping
(`[kafka.config]`, headers, topics). Translating them is longer than this module, and the models
hold what the file doesn't (`line`, absolute paths, calls), so each struct would be written twice.
Most commands read this file, and the quick ones import no msgspec (tests/cli/test_light.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn

from headgate.errors import RegistryError
from headgate.parse.config.toml_lines import Path, TomlLines
from headgate.text.near_names import near_names

_VARIABLE = re.compile(r"(\$?)\$\{([^}]*)\}")
_WORDS = {str: "a string", bool: "true or false", int: "a number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Table:
    """One table at `path`; `env` is what `${NAME}` is looked up in, `title` is its heading.

    Every method that reads raises RegistryError with the line of the key, or of the table if the
    key is missing.
    """

    data: Mapping[str, Any]
    path: Path
    lines: TomlLines
    source: str
    env: Mapping[str, str]
    title: str

    def line(self, *keys: str | int) -> int:
        """Return the line of a key of this table, or the table's own."""
        return self.lines.line(*self.path, *keys)

    def fail(self, key: str | int, reason: str) -> NoReturn:
        """Raise RegistryError at the key, or at the table where the key is missing."""
        raise RegistryError(reason, source=self.source, line=self.line(key))

    def allow(self, *keys: str) -> Table:
        """Return this table; any other key is an error with the nearest allowed one."""
        for key in self.data:
            if key not in keys:
                near = near_names(key, keys, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(keys)}"
                self.fail(key, f"unknown key {key!r} in {self.title}, {hint}")
        return self

    def text(self, key: str, *, interpolate: bool = False) -> str | None:
        """Return a string that is not empty, None where the key is missing."""
        if key not in self.data:
            return None
        value = self.data[key]
        if not isinstance(value, str):
            self.fail(key, f"{key!r} must be a string, found {_kind(value)}")
        if not value.strip():
            self.fail(key, f"{key!r} is empty")
        return self._interpolated(key, value) if interpolate else value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of strings, empty where the key is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            self.fail(key, f"{key!r} must be an array of strings, found {_kind(value)}")
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                reason = f"{key!r} must contain only non-empty strings, found {_kind(item)}"
                raise RegistryError(reason, source=self.source, line=self.line(key, index))
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return a boolean, False where the key is missing."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            self.fail(key, f"{key!r} must be true or false, found {_kind(value)}")
        return value

    def day(self, key: str) -> date | None:
        """Return a date (`2026-12-31`, also in quotes), None where the key is missing."""
        value = self.data.get(key)
        if isinstance(value, str):
            try:
                return date.fromisoformat(value)
            except ValueError:
                self.fail(key, f"{key!r} must be a date such as 2026-12-31")
        if isinstance(value, datetime):
            return value.date()
        if value is not None and not isinstance(value, date):
            self.fail(key, f"{key!r} must be a date such as 2026-12-31, found {_kind(value)}")
        return value

    def choice(self, key: str, words: Sequence[str]) -> str:
        """Return one of `words`; the key must be there."""
        value, known = self.text(key), ", ".join(words)
        if value is None:
            self.fail(key, f"{self.title} needs {key!r}: one of {known}")
        if value not in words:
            near = near_names(value, words, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"use one of {known}"
            self.fail(key, f"unknown {key} {value!r}, {hint}")
        return value

    def table(self, key: str, title: str) -> Table:
        """Return the table under `key`, an empty one where it is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail(key, f"{key!r} must be a table ({title}), found {_kind(value)}")
        return self._under(value, title, key)

    def tables(self, key: str, title: str) -> Iterator[Table]:
        """Yield the tables of an array of tables, none where the key is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            self.fail(
                key, f"{key!r} needs the heading {title} for each entry, found {_kind(value)}"
            )
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                reason = f"{key!r} must contain only tables, found {_kind(item)}"
                raise RegistryError(reason, source=self.source, line=self.line(key, index))
            yield self._under(item, title, key, index)

    def settings(self) -> dict[str, str]:
        """Return every value as text by its dotted key; `a.b = 1` and `"a.b" = 1` are the same."""
        found: dict[str, str] = {}
        for key, value in self.data.items():
            if isinstance(value, dict):
                inner = self.table(key, self.title).settings()
                found |= {f"{key}.{name}": text for name, text in inner.items()}
            elif isinstance(value, bool):
                found[key] = str(value).lower()
            elif isinstance(value, (str, int, float)):
                found[key] = self._interpolated(key, str(value))
            else:
                self.fail(key, f"{key!r} must be a string or a number, found {_kind(value)}")
        return found

    def _under(self, data: Mapping[str, Any], title: str, *keys: str | int) -> Table:
        return Table(data, (*self.path, *keys), self.lines, self.source, self.env, title)

    def _interpolated(self, key: str, value: str) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[1]:
                return match[0][1:]
            if match[2] not in self.env:
                self.fail(
                    key,
                    (
                        f"{key!r} uses the environment variable {match[2]}, which is not set: set "
                        "the variable"
                    ),
                )
            return self.env[match[2]]

        return _VARIABLE.sub(replace, value)


def _kind(value: object) -> str:
    """Name a value's type without showing the value: it may be a secret."""
    if value == "":
        return "an empty string"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    return _WORDS.get(type(value), "a date or a time")
