"""What a chain does to each of its pipelines, in words: for the command line and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

KEY = "chain"
HEAD = ("Pipeline", "Choice", "Result", "Output replaced since")
_CHOICES = {"skip": "skip to the latest offsets", "nothing": "no change"}


def chain_rows(impact: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each pipeline in their order; none of other scenarios."""
    for row in impact.get(KEY, ()):
        choice = _CHOICES.get(row["choice"], row["choice"])
        batch = f" to batch {row['batch']}" if row["batch"] is not None else ""
        yield row["pipeline"], f"{choice}{batch}", _result(row), row["replaced_since"] or ""


def _result(row: Mapping[str, Any]) -> str:
    if row["is_exact"]:
        return "exact"
    return "duplicates" if row["choice"] == "nothing" else "records may be missing or count twice"


def chain_lines(impact: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and sentence of each pipeline."""
    return [
        ("Pipeline", f"{name}: {choice}, results: {result}")
        for name, choice, result, _ in chain_rows(impact)
    ]
