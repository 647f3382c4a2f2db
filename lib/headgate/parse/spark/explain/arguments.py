"""Cut a list of arguments at its commas, and a list's brackets off."""

from __future__ import annotations

import re

_OPEN, _SHUT = "([{", ")]}"
_FLAT = re.compile(r"\[([^()\[\]{}]*)\]")
_CUT_AT = re.compile(r"[()\[\]{},]")


def whole(text: str) -> int | None:
    """Return the whole number that `text` is; None for anything else.

    Nothing that Spark counts or measures has more than 40 digits, and only ASCII ones are its own.
    """
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and text.isascii() and len(text) <= 40 else None


def split(text: str) -> list[str]:
    """Return the parts of `text` between commas that are outside all brackets."""
    if "(" not in text and "[" not in text and "{" not in text:
        items = [item.strip() for item in text.split(",")]
        return items if len(items) > 1 or items[0] else []
    parts, depth, start = [], 0, 0
    for match in _CUT_AT.finditer(text):
        mark = match.group()
        if mark in _OPEN:
            depth += 1
        elif mark in _SHUT:
            depth = max(depth - 1, 0)
        elif depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def listed(text: str) -> list[str]:
    """Return the items of `[a, b]`, of `List(a, b)`, or of `a, b` itself."""
    text = text.strip()
    for opener, shut in (("[", "]"), ("List(", ")"), ("ArrayBuffer(", ")")):
        if text.startswith(opener) and text.endswith(shut):
            return split(text[len(opener) : -1])
    return split(text)


def named_arguments(text: str) -> dict[str, str]:
    """Return `key=value` pairs of `(keys=[k], functions=[count(1)])`."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    pairs = (part.partition("=") for part in split(text))
    return {key.strip(): value.strip() for key, sign, value in pairs if sign}


def first_bracket(text: str) -> tuple[str, str, str]:
    """Return the text before the first `[...]`, inside it and after it."""
    begin = text.find("[")
    if begin < 0:
        return text, "", ""
    if flat := _FLAT.match(text, begin):
        return text[:begin], flat[1], text[flat.end() :]
    depth = 0
    for match in _CUT_AT.finditer(text, begin):
        mark = match.group()
        if mark in _OPEN:
            depth += 1
        elif mark in _SHUT:
            depth -= 1
            if depth == 0:
                return text[:begin], text[begin + 1 : match.start()], text[match.end() :]
    return text[:begin], text[begin + 1 :], ""


def opened(text: str) -> int:
    """Return how many brackets wait for their end; 0 where Spark itself cut something out (`...`).

    It shortens locations and pushed filters of a scan to `spark.sql.maxMetadataStringLength`. A
    constant of bytes is printed as Java does, `[B@38d34945`, and its bracket never ends.
    """
    if "..." in text:
        return 0
    text = text.replace("[B@", "")
    return text.count("(") + text.count("[") - text.count(")") - text.count("]")
