"""Cut what `explain` printed into sections, free of what a log or a terminal put around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_HEADER = re.compile(
    r"^(?P<before>.*?)== (?P<title>Parsed Logical|Analyzed Logical|Optimized Logical|Physical)"
    r" Plan ==\s*$"
)
_SUBTREE = re.compile(r"^(?P<before>.*?)== Subtree \d+ / \d+ .*==\s*$")
_ANY_HEADER = re.compile(r"^\s*== .* ==\s*$")
FORMS = {
    "Parsed Logical": "parsed",
    "Analyzed Logical": "analyzed",
    "Optimized Logical": "optimized",
    "Physical": "physical",
}


@dataclass(frozen=True, slots=True)
class Section:
    """The lines between one `== ... Plan ==` and the next; `line` is the first one's number."""

    form: str
    lines: tuple[str, ...]
    line: int


def clean_lines(text: str) -> list[str]:
    """Return the text's lines without colours, carriage returns and byte order mark."""
    text = text.removeprefix("\ufeff")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return [line.rstrip() for line in text.split("\n")]


def split_sections(text: str) -> tuple[Section, ...]:
    """Return the plan sections of `text` in their order; none where it is no explain text."""
    lines = clean_lines(text)
    starts = [(n, *found) for n, line in enumerate(lines) if (found := _header(line))]
    ends = [at for at, _, _ in starts[1:]] + [len(lines)]
    out = []
    for (at, form, before), end in zip(starts, ends, strict=False):
        body = _unprefixed(lines[at + 1 : end], before)
        out.append(Section(form, tuple(body), at + 2))
    return tuple(out)


def _header(line: str) -> tuple[str, str] | None:
    if not line.endswith("=="):
        return None
    if match := _HEADER.match(line):
        if match["before"].endswith(("+- ", ":- ")):
            return None
        return FORMS[match["title"]], match["before"]
    if match := _SUBTREE.match(line):
        return "physical", match["before"]
    return None


def _unprefixed(lines: list[str], before: str) -> list[str]:
    """Strip what a log put before each line: like what stood before the header, other digits."""
    if not before:
        return lines
    shape = re.sub(r"\d+", "0", before)
    pattern = re.escape(shape).replace("0", r"\d+")
    blank = re.escape(shape.rstrip()).replace("0", r"\d+")
    prefix = re.compile(f"{pattern}|{blank}$")
    return [line[m.end() :] if (m := prefix.match(line)) else line for line in lines]


def is_other_header(line: str) -> bool:
    """Whether a line begins something else, such as `== Photon Explanation ==`."""
    return line.endswith("==") and bool(_ANY_HEADER.match(line))
