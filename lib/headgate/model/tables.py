"""A table of a database, as plans and runs see it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from headgate.text.numbers import plural

_WINDOWS = {f"struct<start:{kind},end:{kind}>": kind for kind in ("timestamp", "timestamp_ntz")}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column; `kind` is the database's name of its type, `type` how it is declared.

    `category` is PostgreSQL's (`S` text, `E` enum). `scale` is that of a `numeric`, None for any.
    `is_filled` says that a row without a value for it can be inserted: it may be null, or has a
    default. `is_computed`: the database computes it, so nothing can be written to it.
    """

    name: str
    kind: str
    type: str
    category: str = ""
    scale: int | None = None
    is_filled: bool = True
    is_computed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTable:
    """A table and what this connection may do with it.

    `id` is another one for a table that was dropped and created again. `unique` has the columns of
    each unique index that an upsert can name. `missing` are the rights that a run needs and the
    user lacks, `obstacles` other reasons against rows being replaced, as sentences. `triggers` run
    for each row. `cascades` are tables whose rows change when a row of this one is deleted.
    `content` is another text once rows were written; the server may be a second late.
    """

    connection: str
    schema: str
    name: str
    id: str
    columns: tuple[TableColumn, ...]
    unique: tuple[frozenset[str], ...]
    missing: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    cascades: tuple[str, ...] = ()
    content: str = ""

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return f"{self.schema}.{self.name}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(c.name for c in self.columns)

    def column(self, name: str) -> TableColumn | None:
        """Return the column of that name, None if there is none."""
        return next((c for c in self.columns if c.name == name), None)


def values_of(
    results: Mapping[str, str], columns: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the table's column, path and type of each value of a result.

    `results` are the types of its columns, in Spark's words, `columns` those of the table. A window
    has two values, unless the table has a column for all of it. Its end is left out if the table
    has no column for it: the start says it.
    """
    for name, kind in results.items():
        time = _WINDOWS.get(kind)
        if time is None or name in columns:
            yield name, (name,), kind
            continue
        yield f"{name}_start", (name, "start"), time
        if f"{name}_end" in columns:
            yield f"{name}_end", (name, "end"), time


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange:
    """What a run replaces in a table: where the table is, and the names of the run's own tables.

    `staged` holds the new results until they are in `table`. Then `before` has the rows that they
    replaced, `after` the keys and a hash of each row that was written. `written` are the columns
    that the results have, `keys` those that identify a row. `touched` holds values of the columns
    `touched_by`: rows with these values that no result replaces are deleted, and kept in `before`,
    too. Without it, none are deleted. `oldest_transaction` was open, or the next one, when the plan
    was made: rows of touched keys that it or a later one wrote may not be replaced.
    """

    connection: str
    schema: str
    table: str
    table_id: str
    keys: tuple[str, ...]
    written: tuple[str, ...]
    staged: str
    before: str
    after: str
    touched: str = ""
    touched_by: tuple[str, ...] = ()
    oldest_transaction: int = 0

    @property
    def own(self) -> tuple[str, ...]:
        """The tables that results are collected in."""
        return tuple(filter(None, (self.staged, self.touched)))

    @property
    def title(self) -> str:
        """The table's name in sentences."""
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows a run added, how many it replaced, and how many it deleted."""

    added: int
    replaced: int
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """Rows that somebody changed after a run wrote them; `sample` is the key of one, in words."""

    count: int
    sample: str = ""

    def sentence(self, title: str) -> str:
        """Say that an undo would lose them; `title` is the table."""
        shown = f": {self.sample}" if self.count == 1 else f", for example {self.sample}"
        return (
            f"{plural(self.count, 'row')} of {title} changed after the run{shown}. The undo would "
            "lose these changes. To undo the run, first change these rows back to the values that "
            "the run wrote"
        )
