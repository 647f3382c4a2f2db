"""Cut what `explain` printed into sections, free of what a log put before and after each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.parse.spark.explain.lines import Line, scan
from headgate.parse.spark.explain.noise import clean
from headgate.parse.spark.explain.unwrap import is_full, unwrapped, wrap_width

_HEADER = re.compile(
    r"^(?P<before>.*?)== (?P<title>Parsed Logical|Analyzed Logical|Optimized Logical|Physical)"
    r" Plan ==(?P<after>\W*)$"
)
_SUBTREE = re.compile(
    r"^(?P<before>.*?)== Subtree (?P<at>\d+) / \d+ (?:.*?==(?P<after>\W*)$|\((?!.*==))"
)
_OTHER = re.compile(r"^\s*={2,} .*={2,}$")
_WORD = re.compile(r"\s+|\w*\d\w*|[^\s\w]+|\w+")
_HEADLESS = re.compile(r"^ *(?:\* |\*\(\d+\) |[~!'])*[A-Z]\w+(?:[ \[(]|$)")
FORMS = {
    "Parsed Logical": "parsed",
    "Analyzed Logical": "analyzed",
    "Optimized Logical": "optimized",
    "Physical": "physical",
}
_QUOTES = ("'", '"', "`")
_ORDER = ("parsed", "analyzed", "optimized", "physical")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines between one `== ... Plan ==` and the next.

    `subtree` is the number of a `codegen` subtree, 0 for a whole plan. `has_heading` is False for
    a tree that somebody copied without it.
    """

    form: str
    lines: tuple[Line, ...]
    line: int
    subtree: int = 0
    has_heading: bool = True

    def continues(self, other: Section) -> bool:
        """Whether one `explain` printed this section after `other`."""
        if self.subtree or other.subtree:
            return 0 < other.subtree < self.subtree
        return _ORDER.index(self.form) > _ORDER.index(other.form)


@dataclass(frozen=True, slots=True)
class _Heading:
    at: int
    form: str
    before: str
    after: str
    subtree: int = 0
    is_broken: bool = False


def split_sections(text: str) -> tuple[Section, ...]:
    """Return the plan sections of `text` in their order; none if it isn't explain text."""
    text = clean(text)
    lines = scan(text)
    headings = [
        heading
        for n, line in enumerate(lines)
        if line.column < 0 and "== " in line.text and (heading := _heading(n, line)) is not None
    ]
    if not headings:
        return _headless(lines, text)
    ends = [h.at for h in headings[1:]] + [len(lines)]
    width = wrap_width(lines)
    return tuple(
        _section(h, lines[h.at + 1 : end], text, width)
        for h, end in zip(headings, ends, strict=True)
    )


def _heading(at: int, line: Line) -> _Heading | None:
    """Return the heading that a line without rails, with `== ` in it, is."""
    if " Plan ==" in line.text and (match := _HEADER.match(line.text)):
        if match["before"].endswith(("+- ", ":- ")):
            return None
        return _Heading(at, FORMS[match["title"]], match["before"], match["after"].strip())
    if "== Subtree " in line.text and (match := _SUBTREE.match(line.text)):
        number, after = int(match["at"][:9]), match["after"]
        return _Heading(
            at, "physical", match["before"], (after or "").strip(), number, after is None
        )
    return None


def _section(heading: _Heading, body: Sequence[Line], text: str, width: int) -> Section:
    if heading.is_broken:
        end = next((n for n, line in enumerate(body) if line.text.endswith("==")), -1)
        body = body[end + 1 :]
    first = body[0].number if body else 0
    if heading.before or heading.after:
        raws = [text[line.start : line.end] for line in body]
        bare = "\n".join(_bare(raws, heading.before, heading.after))
        text, body = bare, scan(bare, first)
        width = wrap_width(body)
    lines = tuple(unwrapped(body, text, width))
    return Section(heading.form, lines, first, heading.subtree)


def _headless(lines: Sequence[Line], text: str) -> tuple[Section, ...]:
    """Return the tree in `text` without any heading: rails, and the line that they hang on."""
    first = next((n for n, line in enumerate(lines) if line.is_row), None)
    if first is None:
        return ()
    row = lines[first]
    begin = first - 1 if first and _HEADLESS.match(lines[first - 1].text) else first
    if begin == first and row.column == 0 and not _HEADLESS.match(row.text[3:]):
        return ()
    body = tuple(unwrapped(lines[begin:], text, wrap_width(lines)))
    return (Section("physical", body, lines[begin].number, has_heading=False),)


def _bare(lines: list[str], before: str, after: str) -> list[str]:
    """Strip from each line what a log, a quote or a table put around it.

    A line without the prefix below one that fills the terminal's width is the rest of that one.
    """
    prefix = _prefix(before)
    width = max(map(len, lines), default=0)
    out: list[str] = []
    full = False
    for line in lines:
        match = prefix.match(line) if prefix else None
        if match is None and full and out:
            out[-1] = f"{out[-1]}{line}"
        else:
            out.append(line[match.end() :] if match else line)
        full = bool(match or full) and is_full(len(line), width)
        if full:
            out[-1] += " " * (width - len(line))
    if after:
        out = [line.rstrip().removesuffix(after) for line in out]
    out = [line.rstrip() for line in out]
    if before.rstrip()[-1:] in _QUOTES and out:
        end = max((n for n, line in enumerate(out) if line), default=0)
        out[end] = out[end].removesuffix(before.rstrip()[-1])
    return out


def _prefix(before: str) -> re.Pattern[str] | None:
    """Return what precedes each line: as before the heading, with other numbers and times."""
    if not before:
        return None
    words = _WORD.findall(before)
    parts = [_pattern(w) for w in words[:-1]] + [
        re.escape(words[-1]) if words[-1].isspace() else _pattern(words[-1])
    ]
    whole = "".join(parts)
    blank = "".join(parts[:-1] if words[-1].isspace() else parts)
    return re.compile(f"{whole}|{blank}$")


def _pattern(word: str) -> str:
    if word.isspace():
        return r"\s+"
    return r"\w+" if any(c.isdecimal() for c in word) else re.escape(word)


def is_other_header(line: str) -> bool:
    """Whether a line begins something else, such as `== Photon Explanation ==`."""
    return line.endswith("==") and bool(_OTHER.match(line))
