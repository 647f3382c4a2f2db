"""Small pieces of HTML; every text from outside is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from headgate.views.scene.scene import STATUS_WORDS, Status

Rows = Iterable[tuple[str, object]]
LONG_NAME = 24
"""Maximum length of a fixed-width name that is shown beside its title."""
WRAPS = (("long", 150), ("longer", 200))
"""Minimum lengths, in characters, of verdicts that wrap at 1280 and at 1680 pixels."""


def header(title: str, summary: str = "") -> str:
    """Return a page's title with a muted line beside it."""
    return (
        f'<div class="hg-head"><h1>{escape(title)}</h1>'
        f'<span title="{escape(summary)}">{escape(summary)}</span></div>'
    )


def heading(kind: str, name: str) -> str:
    """Return what a thing is, and its name."""
    return f'<div class="hg-kind">{escape(kind)}</div><h2 class="hg-name">{escape(name)}</h2>'


def facts(rows: Rows) -> str:
    """Return names and values in two columns; rows without a value are left out."""
    shown = [(name, value) for name, value in rows if value not in (None, "", (), [], {})]
    cells = "".join(f"<dt>{escape(n)}</dt><dd>{_value(v)}</dd>" for n, v in shown)
    return f'<dl class="hg-facts">{cells}</dl>' if cells else ""


def _value(value: object) -> str:
    if isinstance(value, Code):
        return code(value)
    if isinstance(value, Link):
        return link(value)
    if isinstance(value, list | tuple):
        return "<br>".join(_value(v) for v in value)
    return rich(str(value))


class Code(str):
    """Text that is code or a type: shown in a fixed width."""

    __slots__ = ()


class Link(str):
    """An address on the web: shown as a link, if it is one."""

    __slots__ = ()


def link(address: str) -> str:
    """Return a link that opens beside the page; anything but a web address as plain text."""
    text = escape(address)
    if not address.startswith(("https://", "http://")):
        return rich(address)
    return f'<a href="{text}" target="_blank" rel="noopener noreferrer">{text}</a>'


def code(text: object) -> str:
    """Return text in a fixed width; long names of error classes break after an underscore."""
    shown = escape(str(text))
    if len(shown) > LONG_NAME:
        shown = shown.replace("_", "_<wbr>")
    return f'<span class="hg-code">{shown}</span>'


def section(text: str) -> str:
    """Return a small heading."""
    return f'<div class="hg-section">{escape(text)}</div>'


def quiet(text: str) -> str:
    """Return a muted line."""
    return f'<div class="hg-quiet">{rich(text)}</div>'


def paragraph(text: str) -> str:
    """Return a paragraph of the panel."""
    return f'<p class="hg-text">{rich(text)}</p>'


def beneath(text: str) -> str:
    """Return a muted line that belongs to the button above it."""
    return f'<div class="hg-beneath">{escape(text)}</div>'


def tone(name: str) -> str:
    """Return the style that sets the hue of a status, an outcome or a look."""
    return f'style="--tone:var(--hg-{escape(name)})"'


def status(which: Status) -> str:
    """Return a status as a badge with its word."""
    glyph, word = STATUS_WORDS[which]
    return state(glyph, which, word)


def state(glyph: str, name: str, word: str) -> str:
    """Return a glyph and a word in a status's hue."""
    loud = " loud" if name == Status.SILENTLY_WRONG else ""
    return f'<span class="hg-status{loud}" {tone(name)}><i>{glyph}</i>{escape(word)}</span>'


def badge(glyph: str, name: str) -> str:
    """Return a glyph in a disc of a status's hue; silently wrong is louder than all others."""
    loud = " loud" if name == Status.SILENTLY_WRONG else ""
    return f'<span class="hg-finding{loud}" {tone(name)}><i>{escape(glyph)}</i></span>'


def chips(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return counts side by side: a glyph, the hue's name, and the words."""
    shown = "".join(
        f'<span class="{"loud" if name == Status.SILENTLY_WRONG else ""}" {tone(name)}>'
        f"<i>{escape(glyph)}</i>{escape(words)}</span>"
        for glyph, name, words in rows
    )
    return f'<div class="hg-counts">{shown}</div>' if shown else ""


def change(title: str, before: str, after: str) -> str:
    """Return a value before and after; an empty side is left out, and so is an empty title."""
    if not (title or before or after):
        return ""
    was = f'<div class="was"><span>−</span><span>{escape(before)}</span></div>' if before else ""
    now = f'<div class="is"><span>+</span><span>{escape(after)}</span></div>' if after else ""
    head = f"<b>{escape(title)}</b>" if title else ""
    return f'<div class="hg-change">{head}{was}{now}</div>'


def rich(text: str) -> str:
    """Return text with the parts in backticks as code."""
    return "".join(
        code(part) if number % 2 else escape(part) for number, part in enumerate(text.split("`"))
    )


def say(text: str, name: str) -> str:
    """Return a sentence in the hue of a status."""
    return f'<div class="hg-say" {tone(name)}>{rich(text)}</div>'


def conditions(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Return what is needed, one a line: glyph, hue, the state's word, and what decides it."""
    items = "".join(
        f'<li {tone(name)}><i aria-hidden="true">{glyph}</i>'
        f'<span><b class="hg-hidden">{escape(word)}: </b>{rich(said)}</span></li>'
        for glyph, name, word, said in rows
    )
    return f'<ul class="hg-conditions">{items}</ul>' if items else ""


def unknown(text: str, glyph: str = "?") -> str:
    """Return what the evidence does not say, and what would show it."""
    return f'<div class="hg-unknown"><i>{escape(glyph)}</i><span>{rich(text)}</span></div>'


def verdict(glyph: str, word: str, sentence: str, name: str, judged_for: str = "") -> str:
    """Return the one line that a release manager can act on, and which engine it holds for.

    A long one takes two lines (`WRAPS` says from which length on, in a small and a large window);
    what is longer still is cut there, and its tooltip has it all.
    """
    length = len(f"{word} {sentence} {judged_for}")
    classes = ["hg-verdict", *(c for c, at in WRAPS if length > at)]
    classes += ["loud"] if name == Status.SILENTLY_WRONG else []
    holds = f"<small>{escape(judged_for)}</small>" if judged_for else ""
    return (
        f'<div class="{" ".join(classes)}" role="status" {tone(name)}><i>{escape(glyph)}</i>'
        f'<div title="{escape(sentence)}"><b>{escape(word)}</b> {rich(sentence)}</div>{holds}</div>'
    )


def pill(word: str, name: str) -> str:
    """Return a word in the hue of a status."""
    return f'<span class="hg-pill" {tone(name)}>{escape(word)}</span>'


def bar(words: str, done: int, total: int | None) -> str:
    """Return how far something is: its words, and a bar where the end is known."""
    share = 100 * min(done / total, 1.0) if total else None
    filled = f'<b style="width:{share:.1f}%"></b>' if share is not None else ""
    track = f'<span class="track" role="presentation">{filled}</span>' if filled else ""
    return f'<small class="hg-bar">{escape(words)}{track}</small>'


def numbered(lines: Iterable[str]) -> str:
    """Return steps in their order."""
    items = "".join(f"<li>{rich(line)}</li>" for line in lines)
    return f'<ol class="hg-list">{items}</ol>' if items else ""


def bullets(lines: Iterable[str]) -> str:
    """Return a list of sentences."""
    items = "".join(f"<li>{rich(line)}</li>" for line in lines)
    return f'<ul class="hg-list">{items}</ul>' if items else ""


def understood(sentence: str, lines: Iterable[str] = ()) -> str:
    """Return what evidence was recognised as, and its pieces where there are several."""
    return (
        f'<div class="hg-understood" role="status" {tone("added")}><i>✓</i>'
        f"<div><b>{escape(sentence)}</b>{pieces(lines)}</div></div>"
    )


def pieces(lines: Iterable[str]) -> str:
    """Return what each piece of evidence is, a line each."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="hg-pieces">{items}</ul>' if items else ""


def tiles(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return numbers that matter most side by side: name, value, note."""
    cells = "".join(
        f"<div><span>{escape(name)}</span><b>{escape(value)}</b><small>{escape(remark)}</small></div>"
        for name, value, remark in rows
    )
    return f'<div class="hg-tiles">{cells}</div>'


def version_entry(
    *,
    number: int,
    when: str,
    origin: str,
    runs: str,
    chosen: bool,
    outcome: tuple[str, str],
    line: str,
    summary: str,
) -> str:
    """Return a version as an entry of a timeline.

    `runs` says that it was seen running last, empty for all others; `outcome` is glyph and word.
    """
    glyph, word = outcome
    sign = f'<i {tone(word)} title="{escape(word.replace("_", " "))}">{escape(glyph)}</i>'
    start = '<i class="start">•</i>'
    chips = f'<span class="chip">{escape(origin)}</span>'
    chips += f'<span class="chip runs">{escape(runs)}</span>' if runs else ""
    chips += '<span class="chip shown">shown</span>' if chosen else ""
    return (
        f'<div class="hg-version">{sign if glyph else start}<div>'
        f"<p><b>Version {number}</b><time>{escape(when)}</time>{chips}</p>"
        f"<p>{escape(line)}</p><small>{escape(summary)}</small></div></div>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: int = 0) -> str:
    """Return a small table; the last `numbers` columns are right-aligned."""
    first = len(head) - numbers
    style = ["" if n < first else ' class="number"' for n in range(len(head))]
    top = "".join(f"<th{s}>{escape(h)}</th>" for h, s in zip(head, style, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{s}>{_value(c)}</td>" for c, s in zip(r, style, strict=True))
        + "</tr>"
        for r in rows
    )
    return f'<table class="hg-table"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def empty(title: str, *lines: str) -> str:
    """Return what a page shows while there is nothing to show: what to do about it."""
    text = "".join(f"<p>{rich(line)}</p>" for line in lines)
    return f'<div class="hg-empty"><h2>{escape(title)}</h2>{text}</div>'
