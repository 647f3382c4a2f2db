"""The values of one twin run, as the two versions' processes returned them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.model.twin import Equivalence

# A frozen row: structs are tuples.
Frozen = Any
StoreId = tuple[int, str, str]
_WORD = re.compile(r"[A-Za-z_][\w]*\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One start on one checkpoint: its error (None: it took all rows), rows as JSON, progress.

    `counts` say how many rows reached what, as `spark_jobs/plan_rows.py` returns them.
    """

    error: Mapping[str, Any] | None = None
    rows: Sequence[str] = ()
    progress: Sequence[Mapping[str, Any]] = ()
    late: str | None = None
    counts: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Ran:
        """Return what a `run` command replied."""
        return cls(
            error=reply["error"],
            rows=tuple(reply["rows"]),
            progress=tuple(reply["progress"]),
            late=reply.get("late"),
            counts=tuple(reply["counts"]),
        )

    def reached(self, operator: int) -> int | None:
        """Return how many rows reached a stateful operator, None if that isn't known."""
        found = [int(c["rows_in"]) for c in self.counts if c["operator_id"] == operator]
        return found[0] if found else None

    def filters(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Return how many rows reached and passed each filter, by its condition and number.

        The number distinguishes filters that have the same condition.
        """
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for count in self.counts:
            if (condition := count["filter"]) is not None:
                number = sum(text == condition for text, _ in found)
                found[condition, number] = (int(count["rows_in"]), int(count["rows"]))
        return found

    def unreached(self) -> str | None:
        """Name a filter before all state that no row passed, or an operator that none reached.

        No row of anybody's passes the filter `false`.
        """
        for count in self.counts:
            if count["operator_id"] is not None and not count["rows_in"]:
                return f"no row reached operator {count['operator_id']}"
            is_first = count["filter"] not in (None, "false") and not count["is_after_state"]
            if is_first and count["rows_in"] and not count["rows"]:
                return f"no row passed the filter {count['filter']}"
        return None

    def changed_rows(self) -> list[int]:
        """Return for each stateful operator how many rows changed its state."""
        counts: Counter[int] = Counter()
        for progress in self.progress:
            for number, operator in enumerate(progress["stateOperators"]):
                counts[number] += int(operator["numRowsUpdated"])
        return [counts[number] for number in range(len(counts))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A store's rows by key; several rows of one key (joins) are one sorted tuple."""

    keys: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    rows: Mapping[Frozen, Frozen] = field(default_factory=dict)
    error: str | None = None


Stores = Mapping[StoreId, Store]


def stores(reply: Mapping[str, Any]) -> dict[StoreId, Store]:
    """Return what a `state` command replied."""
    found = {}
    for store in reply["stores"]:
        rows: dict[Frozen, list[Frozen]] = {}
        for key, value in store["rows"]:
            rows.setdefault(freeze(key), []).append(freeze(value))
        keys, values = store["columns"] or ([], [])
        found[store["operator_id"], store["operator"], store["store"]] = Store(
            keys=tuple(keys),
            values=tuple(values),
            rows={
                key: many[0] if len(many) == 1 else ("several", *sorted(many, key=repr))
                for key, many in rows.items()
            },
            error=store["error"],
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """All of one twin run. A are the rows before the restart, B those after it.

    `before_a` is the old version over A, `after_a` the new one over A on a checkpoint of its own;
    `resumed` is the new one over B on a copy of the old one's checkpoint, `own` on its own, and
    `again` that once more, if requested. The states have the same names; `history` are the
    keys that the old version's state had after any batch. `words` counts the words in A's rows.
    `sampled` are texts, in small letters, of rows that come from a sample.
    `added_sources`: how many streams only the new version reads. It takes their rows of A after
    the restart. `removed_sources`: how many only the old one reads, whose rows the state has.
    `takes_otherwise`: texts are generated, and both versions take them apart in different ways.
    """

    modes: tuple[str, str]
    before_a: Ran
    after_a: Ran
    resumed: Ran
    own: Ran = Ran()
    again: Ran | None = None
    state_before: Stores = field(default_factory=dict)
    state_after: Stores = field(default_factory=dict)
    state_resumed: Stores = field(default_factory=dict)
    state_own: Stores = field(default_factory=dict)
    history: Mapping[StoreId, frozenset[Frozen]] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    added_sources: int = 0
    removed_sources: int = 0
    takes_otherwise: bool = False
    equivalence: Equivalence | None = None
    sampled: frozenset[str] = frozenset()
    inside: str | None = None


def freeze(value: Any) -> Frozen:
    """Return JSON as a value that can be a key."""
    if isinstance(value, list):
        return tuple(freeze(v) for v in value)
    if isinstance(value, dict):
        return tuple(sorted((k, freeze(v)) for k, v in value.items()))
    return value


def count_words(batches: Iterable[Mapping[str, Sequence[Mapping[str, Any]]]]) -> Counter[str]:
    """Count every text, and every generated word in it, in small letters."""
    return Counter(
        word
        for batch in batches
        for rows in batch.values()
        for row in rows
        for word in {w for text in texts(row) for w in words(text)}
    )


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in a nested value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from texts(member)


def words(text: str) -> set[str]:
    """Return a text and the generated words in it, in small letters."""
    return {text.lower(), *(w.lower() for w in _WORD.findall(text))}
