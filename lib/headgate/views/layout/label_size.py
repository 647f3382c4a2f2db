"""How large a label is, and how it is cut to fit."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

CHARACTER = 7.5
"""Width in pixels of an average character at 14 px, weight 500."""
LONGEST = 30
"""Maximum length of a label in characters; the tooltip shows the whole text."""


def one_line(text: str) -> str:
    """Return the text with every run of white space and control characters as one space."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return one line of at most `longest` characters, cut in the middle: ends say the most."""
    line = one_line(text)
    if len(line) <= longest:
        return line
    head = (longest - 1) * 2 // 3
    return f"{line[:head].rstrip()}…{line[head + 1 - longest :].lstrip()}"


def text_width(text: str) -> float:
    """Return the width in pixels; wide characters and emoji count twice, combining ones not."""
    return sum(_cells(c) for c in text) * CHARACTER


def _cells(character: str) -> float:
    if combining(character) or character == "\u200d":
        return 0.0
    return 2.0 if east_asian_width(character) in "WF" else 1.0
