"""Rows of a sample among generated ones, and which values of a counterexample may be shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.model.twin import Counterexample, TwinVerdict
from headgate.text.secrets import MASK

_SHORTEST = 3
_KAFKA = frozenset({"key", "value", "topic", "partition", "timestamp", "headers"})


@dataclass(slots=True)
class Origins:
    """The values of sampled and of generated rows, as text in small letters.

    A row is either: a value that only generated rows have says nothing of the sample.
    """

    sampled: set[str] = field(default_factory=set)
    generated: set[str] = field(default_factory=set)

    def note(self, row: Mapping[str, Any], *, is_sampled: bool) -> None:
        """Remember a row's values."""
        (self.sampled if is_sampled else self.generated).update(_words(row))

    def is_shown(self, value: Any) -> bool:
        """Whether a value surely comes from generated rows."""
        words = set(_words(value))
        return words <= self.generated and not words & self.sampled

    def masked(self, verdict: TwinVerdict) -> TwinVerdict:
        """Return the verdict without sampled values in its counterexample and its messages."""
        example, refusal = verdict.counterexample, verdict.refusal
        return replace(
            verdict,
            why=self._text(verdict.why),
            counterexample=self._example(example) if example else None,
            refusal=replace(refusal, message=self._text(refusal.message)) if refusal else None,
        )

    def _text(self, text: str) -> str:
        low = text.lower()
        found = sorted((w for w in self.sampled if w and w in low), key=len, reverse=True)
        # A short value is one only in quotes.
        parts = [re.escape(w) if len(w) >= _SHORTEST else f"(?<=['\"]){re.escape(w)}(?=['\"])"
                 for w in found]  # fmt: skip
        return re.sub("|".join(parts), MASK, text, flags=re.IGNORECASE) if parts else text

    def _example(self, example: Counterexample) -> Counterexample:
        values = example.before, example.after
        if example.kind == "output":
            rows = [self._row(v) if isinstance(v, dict) else v for v in values]
            is_masked = rows != list(values)
            return replace(example, before=rows[0], after=rows[1], masked=is_masked)
        key = {name: v if self.is_shown(v) else MASK for name, v in example.key.items()}
        is_own = bool(key) and key == example.key
        before, after = (v if is_own and self._is_value(v) else _hidden(v) for v in values)
        return replace(
            example,
            key=key,
            before=before,
            after=after,
            masked=(key, before, after) != (example.key, *values),
        )

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of output; numbers are shown beside nothing but generated text."""
        texts = [v for v in row.values() if isinstance(v, str)]
        is_own = bool(texts) and all(self.is_shown(t) for t in texts)
        return {k: v if is_own and self._is_value(v) else _hidden(v) for k, v in row.items()}

    def _is_value(self, value: Any) -> bool:
        """Whether a value of a key of generated rows may be shown: a number, or generated text."""
        return value is None or isinstance(value, (int, float)) or self.is_shown(value)


def _hidden(value: Any) -> Any:
    return None if value is None else MASK


def _words(value: Any) -> Iterator[str]:
    """Yield the values inside a value: of JSON texts and of bytes what they hold."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _words(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _words(member)
    elif isinstance(value, str):
        yield from _text_words(value)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _text_words(text: str) -> Iterator[str]:
    yield text.lower()
    if text[:1] in "{[":
        try:
            yield from _words(json.loads(text))
        except ValueError:
            return
    elif len(text) % 4 == 0 and len(text) >= _SHORTEST:
        try:
            inside = base64.b64decode(text, validate=True).decode()
        except ValueError:  # no base64, or no text
            return
        yield inside.lower()
        if inside[:1] in "{[":
            yield from _text_words(inside)


def fitted(
    rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    """Return sampled rows with a source's columns, None if they have none of them.

    A source of Kafka has bytes as `value`: a record's own, or else the whole row as JSON.
    """
    kinds = {f["name"]: f["type"] for f in schema["fields"]}
    is_kafka = kinds.get("value") == "binary" and "offset" in kinds
    found = []
    for row in rows:
        if is_kafka and not ("value" in row and row.keys() <= _KAFKA):
            row = {"value": json.dumps(row, ensure_ascii=False)}
        kept = {name: _typed(value, kinds[name]) for name, value in row.items() if name in kinds}
        if kept:
            found.append(kept)
    return found or None


def _typed(value: Any, kind: Any) -> Any:
    """Return a value as JSON of a column's type: CSV has only texts, bytes are base64."""
    if kind == "binary":
        data = value if isinstance(value, bytes) else None if value is None else str(value).encode()
        return None if data is None else base64.b64encode(data).decode()
    if isinstance(value, str) and isinstance(kind, str):
        text = value.strip()
        if kind in ("integer", "long", "short", "byte"):
            return int(text) if text.lstrip("-").isdecimal() else None
        if kind in ("double", "float") or kind.startswith("decimal"):
            try:
                return float(text)
            except ValueError:
                return None
        if kind == "boolean":
            return {"true": True, "false": False}.get(text.lower())
    return value
