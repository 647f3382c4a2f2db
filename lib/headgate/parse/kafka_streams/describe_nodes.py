"""Take the text of one node apart: its name, what it holds, and the arrows behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_MARKS = {
    "Source:": ("(topics:", "(topic:"),
    "Processor:": ("(stores:", "(store:"),
    "Sink:": ("(topic:", "(extractor class:"),
}
_ARROW_AFTER = re.compile(r"\)\s+(?=(?:-->|<--)(?:\s|$))")
_ARROW = re.compile(r"(?:^|\s)(-->|<--)(?=\s|$)")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_COMMA = re.compile(r",\s*")
KINDS = {"Source:": "source", "Processor:": "processor", "Sink:": "sink"}


@dataclass(frozen=True, slots=True)
class NodeText:
    """`facts` are fields of a DescribedNode; `is_whole` is False where the text was cut."""

    name: str
    facts: dict[str, Any]
    arrows: tuple[tuple[str, str], ...] = ()
    is_whole: bool = True


def read_node(key: str, text: str) -> NodeText | None:
    """Return the node, None where the text has no name that is certain.

    The last mark counts: a name may itself hold what looks like one.
    """
    head, arrows = _without_arrows(key, text)
    mark, at = max(((m, head.rfind(m)) for m in _MARKS[key]), key=lambda found: found[1])
    name = head[:at].strip(" \t") if at > 0 else ""
    if not name:
        return None
    value = head[at + len(mark) :].strip()
    is_whole = value.endswith(")")
    value = value[:-1].strip() if is_whole else value
    if key == "Processor:" and is_whole and value.startswith("[") and not value.endswith("]"):
        is_whole = False
    return NodeText(name, _facts(key, mark, value, bool(arrows)), arrows, is_whole)


def _without_arrows(key: str, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Split off the arrows that old releases print on the node's own line."""
    first = min((i for m in _MARKS[key] if (i := text.find(m)) >= 0), default=-1)
    match = _ARROW_AFTER.search(text, max(first, 0)) if first >= 0 else None
    if match is None:
        return text.strip(), ()
    return text[: match.start() + 1].strip(), split_arrows(text[match.end() :])


def split_arrows(text: str) -> tuple[tuple[str, str], ...]:
    """Return (arrow, names) for each arrow in the text."""
    parts = _ARROW.split(text)
    return tuple((parts[i], parts[i + 1].strip()) for i in range(1, len(parts) - 1, 2))


def _facts(key: str, mark: str, value: str, is_old: bool) -> dict[str, Any]:
    if key == "Processor:":
        return {"stores": _listed(value)}
    if key == "Sink:":
        return {"topic": value} if mark == "(topic:" else {"extractor": value}
    return _source(value, is_old)


def _source(value: str, is_old: bool) -> dict[str, Any]:
    """Return the topics or the pattern of a source.

    A list of topics is in brackets, except in the oldest releases. A pattern may begin with `[`,
    too: then it has characters that a topic's name can't have.
    """
    bracketed = value.startswith("[")
    inner = value[1:].removesuffix("]") if bracketed else value
    names = tuple(n for n in (p.strip() for p in _COMMA.split(inner)) if n)
    if (bracketed or is_old) and all(_TOPIC.fullmatch(n) for n in names):
        return {"topics": names}
    return {"pattern": value}


def _listed(value: str) -> tuple[str, ...]:
    inner = value.strip()
    inner = inner[1:] if inner.startswith("[") else inner
    inner = inner[:-1] if inner.endswith("]") else inner
    return tuple(dict.fromkeys(n for n in (p.strip(" \t") for p in _COMMA.split(inner)) if n))
