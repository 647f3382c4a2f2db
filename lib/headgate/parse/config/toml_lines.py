"""Find the line of every table, key and array element of a TOML text.

`tomllib` keeps no positions. This index is made of a text that `tomllib` has accepted already, so
it only has to know where keys and values end, not to judge them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from typing import Any

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"""(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_-]|[ \t.])+""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")


class TomlLines:
    """Line numbers (1-based) by path; `("pipeline", 1, "name")` is a key of the second table."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [at for at, character in enumerate(text) if character == "\n"]
        self._lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}
        self._read_document()

    def line(self, *path: str | int) -> int:
        """Return the line of `path`, or of its nearest ancestor in the file, or 1."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._lines:
                return self._lines[path[:end]]
        return 1

    def _read_document(self) -> None:
        prefix: Path = ()
        while self._skip_blank():
            if self._peek("["):
                prefix = self._read_header()
            else:
                self._read_pair(prefix)

    def _read_header(self) -> Path:
        line, many = self._line(), self._peek("[[")
        self._at += 2 if many else 1
        *parents, last = self._read_key()
        self._at += 2 if many else 1
        path: Path = ()
        for key in parents:
            path = self._newest((*path, key))
            self._note(path, line)
        path = (*path, last)
        if many:
            self._note(path, line)
            self._tables[path] = self._tables.get(path, -1) + 1
            path = self._newest(path)
        self._note(path, line)
        return path

    def _newest(self, path: Path) -> Path:
        """Return `path`, and the index of the newest table where it is an array of tables."""
        return (*path, self._tables[path]) if path in self._tables else path

    def _read_pair(self, prefix: Path) -> None:
        line = self._line()
        path = prefix
        for key in self._read_key():
            path = (*path, key)
            self._note(path, line)
        self._at += 1  # the equals sign
        self._read_value(path)

    def _read_key(self) -> tuple[str, ...]:
        match = _KEY.match(self._text, self._at)
        if match is None:  # no valid TOML comes here
            self._at = len(self._text)
            return ("",)
        self._at = match.end()
        if _BARE.fullmatch(key := match[0].strip()):
            return (key,)
        return _parts(tomllib.loads(f"{key} = 0"))

    def _read_value(self, path: Path) -> None:
        self._skip_blank()
        if self._peek("["):
            self._read_array(path)
        elif self._peek("{"):
            self._read_inline_table(path)
        else:
            match = _STRING.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
            self._at = match.end() if match else len(self._text)

    def _read_array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._more("]"):
            self._note((*path, index), self._line())
            self._read_value((*path, index))
            index += 1
        self._at += 1

    def _read_inline_table(self, path: Path) -> None:
        self._at += 1
        while self._more("}"):
            self._read_pair(path)
        self._at += 1

    def _more(self, close: str) -> bool:
        """Skip what separates elements; True if another one follows."""
        self._skip_blank()
        if self._peek(","):
            self._at += 1
            self._skip_blank()
        return self._at < len(self._text) and not self._peek(close)

    def _skip_blank(self) -> bool:
        match = _BLANK.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at < len(self._text)

    def _peek(self, word: str) -> bool:
        return self._text.startswith(word, self._at)

    def _line(self) -> int:
        return bisect_left(self._ends, self._at) + 1

    def _note(self, path: Path, line: int) -> None:
        self._lines.setdefault(path, line)


def _parts(nested: Any) -> tuple[str, ...]:
    parts: tuple[str, ...] = ()
    while isinstance(nested, dict):
        key, nested = next(iter(nested.items()))
        parts = (*parts, key)
    return parts
