"""Take off a text what terminals, editors and JSON put on it, so that plain lines are left."""

from __future__ import annotations

import re
from json import JSONDecodeError, loads

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_BLANKS = ("\xa0", "\u2007", "\u202f", "\u3000")
_NOTHING = ("\ufeff", "\u200b", "\u2060")
_PLAN = re.compile(r"(?:Logical|Physical) Plan ==[ \t]*\\+n|WholeStageCodegen subtrees\.\\+n")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<mark>[nrt\"'\\/]))")
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_MOST_LAYERS = 3
_FEWEST = 4


def clean(text: str) -> str:
    """Return the text without colours, carriage returns, odd blanks, tabs and JSON's escapes.

    Tabs become blanks up to the next multiple of eight. Costs next to nothing on a clean text.
    """
    text = _opened(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _plain_blanks(text)
    text = text.expandtabs(8) if "\t" in text else text
    return _single_spaced(text)


def _single_spaced(text: str) -> str:
    """Return the text without the blank line that a mail or a page put below every line."""
    # Counting takes far longer than looking for one end: of a plain text the second line tells.
    first = text.find("\n")
    if first < 0 or text[first + 1 : text.find("\n", first + 1)].strip():
        return text
    count = text.count("\n")
    if count < _FEWEST or text.count("\n\n") * 2 < count - 1:
        return text
    lines = text.split("\n")
    return text if any(line.strip() for line in lines[1::2]) else "\n".join(lines[::2])


def _plain_blanks(text: str) -> str:
    for blank in _BLANKS:
        text = text.replace(blank, " ")
    for mark in _NOTHING:
        text = text.replace(mark, "")
    return text.replace("\u2028", "\n").replace("\x85", "\n")


def _opened(text: str) -> str:
    """Return the plans in `text` that JSON or a table has escaped to one line, as several lines."""
    for _ in range(_MOST_LAYERS):
        # One character is found many times faster than two.
        if "\\" not in text or "\\n" not in text or not _PLAN.search(text):
            return text
        text = "\n".join(_strings(text)) or _unescaped(_unquoted(text))
    return text


def _strings(text: str) -> list[str]:
    """Return each quoted string that holds a plan; none if a plan is outside quotes."""
    out: dict[str, None] = {}
    after = 0
    for found in _PLAN.finditer(text):
        if found.start() < after:
            continue
        begin = text.rfind('"', max(after, text.rfind("\n", 0, found.start())), found.start())
        match = _STRING.match(text, begin) if begin >= 0 else None
        if match is None:
            return []
        after = match.end()
        try:
            out[loads(match.group(), strict=False)] = None
        except JSONDecodeError:
            out[_unescaped(match.group()[1:-1])] = None
    return list(out)


def _unquoted(text: str) -> str:
    """Return the text within the quotes of a Python string's `repr`."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"`":
        return bare[1:-1]
    return text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if (code := match["code"]) is not None:
        point = int(code, 16)
        return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)
    mark = match["mark"]
    return _MEANT.get(mark, mark)
