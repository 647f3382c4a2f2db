"""The operators of a query, whichever form of its plan they were read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

_ALIAS = re.compile(r"^(?P<text>.*) AS (?P<name>.+?)#(?P<id>\d{1,18})L?(?:-T\d+ms)?$", re.S)
_BARE = re.compile(r"^(?P<name>.+)#(?P<id>\d{1,18})L?(?:-T\d+ms)?$", re.S)
_CUT = "more fields"
_NUMBER_IN_FIELD = re.compile(r"#\d+L?(?:-T\d+ms)?\.[^\s()\[\]{},]*#\d")
_UNRESOLVED = re.compile(r"^'?[\w.*]+$")
STATEFUL = frozenset(
    (
        "aggregate",
        "session_aggregate",
        "deduplicate",
        "deduplicate_within_watermark",
        "stream_join",
        "limit",
        "map_groups",
        "transform_with_state",
    )
)
LEAVES = frozenset(("source", "static"))


@dataclass(frozen=True, slots=True)
class Column:
    """One output column: its attribute number, its name, and the expression that makes it.

    `text` is None for a column that begins here, as a source's do.
    """

    id: int | None
    name: str
    text: str | None = None

    @property
    def is_computed(self) -> bool:
        """Whether more is done than pick or rename a column."""
        if self.text is None:
            return False
        if self.text[-1:] == ")":
            return True
        if match := _BARE.match(self.text):
            # A Python function's call has a number too: `twice(v#1)#2`.
            return match["name"].endswith(")") and "#" in match["name"]
        return not (self.id is None and _UNRESOLVED.match(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A repartition; `required` is False for the user's own.

    `shuffles` is False for a coalesce, which only takes partitions together.
    """

    keys: tuple[str, ...]
    partitions: int | None
    required: bool = True
    shuffles: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StateInfo:
    """What the physical plan says of an operator's state; `columns` are those the save gets.

    `started` is False for a plan that was made before its query had a checkpoint: its output
    mode always reads Append.
    """

    operator_id: int | None = None
    partitions: int | None = None
    format: str | None = None
    output_mode: str | None = None
    columns: tuple[Column, ...] | None = None
    started: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One operator. `inputs` are indices of relations that come earlier in the query.

    `streaming` is None if the form doesn't distinguish a streaming leaf from a static one. Texts
    are as the plan prints them, with attribute numbers. `extra` holds what only some kinds have.
    """

    kind: str
    inputs: tuple[int, ...] = ()
    outputs: tuple[Column, ...] = ()
    streaming: bool | None = None
    name: str = ""
    keys: tuple[str, ...] = ()
    right_keys: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    condition: str | None = None
    join_type: str | None = None
    state: StateInfo | None = None
    exchanges: tuple[Exchange | None, ...] = ()
    line: int = 0
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """All relations of one form, inputs first; the last one feeds the sink.

    `sink` is what the form says of it, empty where it names none.
    """

    form: str
    relations: tuple[Relation, ...]
    sink: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def hides_sources(self) -> bool:
        """Whether the optimiser cut sources away because the last batch was empty."""
        return any(r.extra.get("empty") for r in self.relations if r.kind == "static")

    @property
    def has_empty_batch(self) -> bool:
        """Whether a source of the last batch had no data, so that other forms may lack it."""
        return any(r.extra.get("empty_batch") for r in self.relations)


def column(text: str) -> Column:
    """Return the column that `expression AS name#12` or `name#12` makes.

    >>> column("(v#1 * 2) AS w#7L")
    Column(id=7, name='w', text='(v#1 * 2)')
    """
    if " AS " in text and (match := _ALIAS.match(text)):
        return Column(int(match["id"]), match["name"], match["text"])
    if match := _BARE.match(text):
        return Column(int(match["id"]), match["name"], text)
    return Column(None, text, text)


def ambiguous(items: Sequence[str]) -> list[int]:
    """Return which items of a list of columns may be pieces of one: each ends in its number.

    A comma in the name of a struct's field cuts it, and `#12` in one looks like a number: the text
    doesn't show what such a name is.
    """
    cut = [n for n, item in enumerate(items) if column(item).id is None and _CUT not in item]
    odd = {n for n, item in enumerate(items) if "#" in item and _NUMBER_IN_FIELD.search(item)}
    return sorted({n for index in cut for n in (index, index + 1) if n < len(items)} | odd)


def begins(text: str) -> Column:
    """Return the column `name#12` as one that begins here."""
    if " AS " not in text and (match := _BARE.match(text)):
        return Column(int(match["id"]), match["name"])
    found = column(text)
    return Column(found.id, found.name)


def reached(relations: Sequence[Relation], root: int) -> tuple[Relation, ...]:
    """Return the root and all that feeds it, in the same order; a subquery's relations don't."""
    seen = [False] * len(relations)
    if root >= 0:
        seen[root] = True
    # Inputs come earlier: whatever leads to the root is known before it is looked at.
    for index in range(root, -1, -1):
        if seen[index]:
            for below in relations[index].inputs:
                seen[below] = True
    if all(seen):
        return tuple(relations)
    order = [index for index, is_reached in enumerate(seen) if is_reached]
    new_index = {old: new for new, old in enumerate(order)}
    kept = (relations[i] for i in order)
    return tuple(replace(r, inputs=tuple(new_index[i] for i in r.inputs)) for r in kept)


def same_session(query: Query, other: Query) -> bool:
    """Whether two forms number their attributes alike: they share a source's columns."""
    mine, theirs = (_leaf_columns(q) for q in (query, other))
    return bool(mine) and mine <= theirs


def _leaf_columns(query: Query) -> frozenset[tuple[int | None, str]]:
    leaves = (r for r in query.relations if r.kind in LEAVES)
    return frozenset((c.id, c.name) for r in leaves for c in r.outputs)
