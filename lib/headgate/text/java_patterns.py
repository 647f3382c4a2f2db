"""Java's regular expressions for names of topics, as Python compiles them."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<kind>[pP])\{(?P<name>\w+)\}|\\.|.", re.S)
# A name of a topic has no other characters than these, so that of Unicode's classes this is all.
_CLASSES = {
    "Lower": "a-z", "Ll": "a-z", "IsLowercase": "a-z",
    "Upper": "A-Z", "Lu": "A-Z", "IsUppercase": "A-Z",
    "Alpha": "a-zA-Z", "L": "a-zA-Z", "IsL": "a-zA-Z", "IsAlphabetic": "a-zA-Z",
    "Digit": "0-9", "N": "0-9", "Nd": "0-9", "IsDigit": "0-9",
    "Alnum": "a-zA-Z0-9", "XDigit": "0-9a-fA-F", "Punct": r"._\-",
}  # fmt: skip
# In a class these join classes in Java, and are plain characters in Python.
_OPERATORS = re.compile(r"&&|--|\|\||~~")


@lru_cache(maxsize=256)
def java_pattern(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern of topics for Python; None if Python may match other topics than Java."""
    found: list[str] = []
    # How many tokens of a class were read; None outside of classes.
    read: int | None = None
    for token in _TOKEN.finditer(pattern):
        text = _translated(token, in_class=read is not None)
        if text is None or (read is not None and text == "["):
            return None
        if read is None:
            read = 0 if text == "[" else None
        elif text == "]" and read:
            read = None
        elif text != "^" or read:
            read += 1
        if read is not None and _OPERATORS.match(pattern, token.start()):
            return None
        found.append(text)
    try:
        return re.compile("".join(found))
    except (re.error, RecursionError, OverflowError):
        return None


def _translated(token: re.Match[str], *, in_class: bool) -> str | None:
    if token["quoted"] is not None:
        return re.escape(token["quoted"])
    if token["name"] is None:
        return token.group()
    names = _CLASSES.get(token["name"])
    if names is None or (in_class and token["kind"] == "P"):
        return None
    return names if in_class else f"[{'^' if token['kind'] == 'P' else ''}{names}]"
