"""Tables of a database, for plans and runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from headgate.text.numbers import plural

_WINDOWS = {f"struct<start:{kind},end:{kind}>": kind for kind in ("timestamp", "timestamp_ntz")}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column: `kind` is the database's name of its type, `type` is the declared type.

    `category` is PostgreSQL's type category (`S` text, `E` enum). `scale` is that of a `numeric`,
    None for any scale. `is_filled`: a row can be inserted without a value for the column, because
    it is nullable or has a default. `is_computed`: the database computes the column, so nobody can
    write it.
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
    """A table, and what the database user may do with it.

    `id` changes if the table is dropped and created again. `unique` has the columns of each unique
    index that an upsert can use. `missing` are privileges that a run needs but the user doesn't
    have. `obstacles` are sentences: other reasons why rows can't be replaced. `triggers` fire for
    each row. `cascades` are tables whose rows change when a row of this table is deleted. `content`
    changes when rows are written; the database may report this a second late.
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
        """The table's name in messages."""
        return f"{self.schema}.{self.name}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.columns)

    def column(self, name: str) -> TableColumn | None:
        """Return the column with this name, or None."""
        return next((c for c in self.columns if c.name == name), None)


def values_of(
    results: Mapping[str, str], columns: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield table column, path and type of each value of a result.

    `results` are the result's columns with their Spark types, `columns` the table's columns. A
    window has two values, its start and its end, unless the table has a column for the whole
    window. If the table has no column for the end, the end is left out, because the start
    identifies the window.
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
    """What a run replaces in a table: the table, and the names of the run's own tables.

    `staged` has the new results until they are in `table`. Then `before` has the replaced rows, and
    `after` the keys and hashes of all written rows. `written` are the columns of the results,
    `keys` the columns that identify a row. `touched` is a table with values of the columns
    `touched_by`: rows with these values that no result replaces are deleted, and also copied to
    `before`. Without `touched`, no row is deleted. `oldest_transaction` is the oldest transaction
    that was open when the plan was made, or else the next one. If this or a later transaction wrote
    rows of touched keys, the run fails.
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
        """The run's tables that Spark writes to before the change."""
        return tuple(filter(None, (self.staged, self.touched)))

    @property
    def title(self) -> str:
        """The table's name in messages."""
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows a run added, how many it replaced, and how many it deleted."""

    added: int
    replaced: int
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """Rows that were changed after a run wrote them; `sample` is the key of one row, as text."""

    count: int
    sample: str = ""

    def sentence(self, title: str) -> str:
        """Return a sentence: an undo would lose these changes. `title` is the table's name."""
        shown = f": {self.sample}" if self.count == 1 else f", for example {self.sample}"
        return (
            f"{plural(self.count, 'row')} of {title} changed after the run{shown}. The undo would "
            "lose these changes. To undo the run, first change these rows back to the values that "
            "the run wrote"
        )
