"""Read a properties file with settings of Kafka Streams, as Java does."""

from __future__ import annotations

import re
from pathlib import Path

from headgate.errors import EvidenceError

_PAIR = re.compile(r"(?P<key>(?:\\.|[^\s=:\\])+)\s*[=:\s]?\s*(?P<value>.*)$", re.DOTALL)
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_lines(file: Path) -> list[str]:
    """Return the lines of a text file that a user names; EvidenceError if it can't be read."""
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise EvidenceError(f"{file} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise EvidenceError(f"{file} isn't UTF-8 text. Save the file as UTF-8") from None


def read_settings(file: Path) -> dict[str, str]:
    """Return the settings; EvidenceError if the file can't be read.

    The format is that of `java.util.Properties`, with comments, escapes and continued lines.
    """
    found: dict[str, str] = {}
    begun = ""
    for line in read_lines(file):
        text = begun + line.lstrip()
        if not begun and text.startswith(("#", "!")):
            continue
        if _CONTINUED.search(text):
            begun = text[:-1]
            continue
        begun = ""
        if match := _PAIR.match(text):
            found[_plain(match["key"])] = _plain(match["value"])
    return found


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda m: _letter(m[1]), text)


def _letter(code: str) -> str:
    return chr(int(code[1:], 16)) if len(code) == 5 else _LETTERS.get(code, code)
