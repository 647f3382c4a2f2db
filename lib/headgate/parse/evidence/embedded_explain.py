"""Find explain text that stands within JSON: logs of one object a line, notebooks, listings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def plan_texts(values: Sequence[Any]) -> str:
    """Return the plans' text in JSON values, one below the other; empty where there is none.

    A log may have a line of a plan in each object: then the key that holds a heading in one of
    them is read in all.
    """
    whole = [text for value in values for text in _texts(value)]
    if any("\n" in text.strip() for text in whole):
        return "\n".join(whole)
    return "\n".join(_lines(values))


def _is_plan(text: str) -> bool:
    return " Plan ==" in text or "== Subtree " in text


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings that hold a heading; a list of strings is the lines of one text."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str):
            if _is_plan(found):
                yield found
        elif isinstance(found, list) and found and all(isinstance(v, str) for v in found):
            text = "".join(v if v.endswith("\n") else f"{v}\n" for v in found)
            if _is_plan(text):
                yield text
        elif isinstance(found, list):
            stack.extend(reversed(found))
        elif isinstance(found, dict):
            stack.extend(reversed(found.values()))


def _lines(values: Sequence[Any]) -> Iterator[str]:
    """Yield the lines that a log wrote one by one."""
    objects = [v for v in values if isinstance(v, dict)]
    key = next((k for o in objects for k, v in o.items() if isinstance(v, str) and _is_plan(v)), "")
    for found in objects:
        text = found.get(key)
        if isinstance(text, str):
            yield text.removesuffix("\n")
