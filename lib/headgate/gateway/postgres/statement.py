"""SQL about the rows that a run replaces, with every name quoted."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.model.tables import TableChange

HASH = "headgate_row"


class Statement:
    """SQL about one change, with its names quoted; `target` is the table's quoted name."""

    def __init__(self, change: TableChange) -> None:
        self.change = change
        self.target = f"{quoted(change.schema)}.{quoted(change.table)}"

    def text(self, template: str, **more: str) -> str:
        """Return the statement with the names of this change, and `more` parts of it."""
        change = self.change
        rest = [c for c in change.written if c not in change.keys]
        updates = ", ".join(f"{quoted(c)} = EXCLUDED.{quoted(c)}" for c in rest)
        own = (change.staged, change.before, change.after, change.touched)
        staged, before, after, touched = (f"{quoted(change.schema)}.{quoted(n)}" for n in own)
        values = {
            "table": self.target,
            "staged": staged,
            "before": before,
            "after": after,
            "touched": touched,
            "touched_by": _joined(change.touched_by),
            "written": _joined(change.written),
            "keys": _joined(change.keys),
            "t_keys": _joined(change.keys, "t."),
            "key_text": key_text(change, "t."),
            "any_null": any_null(change.keys, "t"),
            "update": f"UPDATE SET {updates}" if updates else "NOTHING",
            "is_staged": f"EXISTS (SELECT FROM {staged} s WHERE {same_key(change, 's', 't')})",
            "hash_name": quoted(HASH),
        }
        return template.format(**values, **more)


def quoted(name: str) -> str:
    """Return a name as PostgreSQL takes it whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def same_key(change: TableChange, one: str, other: str) -> str:
    """Return the condition that rows of two aliases have the same key."""
    return same_columns(change.keys, one, other)


def same_columns(columns: Iterable[str], one: str, other: str) -> str:
    """Return the condition that columns of two aliases have the same values, none of them null."""
    return " AND ".join(f"{one}.{quoted(c)} = {other}.{quoted(c)}" for c in columns)


def any_null(columns: Iterable[str], alias: str) -> str:
    """Return the condition that a column is null."""
    return f"({' OR '.join(f'{alias}.{quoted(c)} IS NULL' for c in columns)})"


def key_text(change: TableChange, alias: str) -> str:
    """Return an expression with a key in words, such as `city=Rome, day=2026-04-01`."""
    parts = (f"{_literal(c + '=')} || {alias}{quoted(c)}::text" for c in change.keys)
    # Columns of two collations have none together.
    return f"""({" || ', ' || ".join(parts)}) COLLATE "C\""""


def row_text(columns: Iterable[str], alias: str) -> str:
    """Return an expression with a row's values as one text; json has no comparison, text has."""
    return f"ROW({_joined(columns, f'{alias}.')})::text"


def row_hash(columns: Iterable[str], alias: str) -> str:
    """Return an expression with a hash of a row's values."""
    text = row_text(columns, alias)
    return f"encode(sha256(convert_to({text}, getdatabaseencoding())), 'hex')"


def written_since(oldest: int, alias: str) -> str:
    """Return the condition that this transaction or one after it wrote a row.

    `oldest` is the first number of a snapshot: of all transactions that ended before, each number
    is lower. A snapshot doesn't list the numbers that savepoints of open transactions have.
    A row has only the last 32 bits of such a number, and keeps them for ever, so that the number of
    an old row may look like that of a transaction still to come: it must be below the next one.
    """
    since = f"txid_snapshot_xmax(txid_current_snapshot()) - {oldest}"
    row = f"{alias}.xmin::text::bigint"
    # The numbers below 3 are not those of transactions.
    return (
        f"({row} >= 3 AND mod({row} - {oldest % 2**32} + {2**32}, {2**32}) < {since} "
        f"OR {since} NOT BETWEEN 0 AND {2**31})"
    )


def _joined(names: Iterable[str], alias: str = "") -> str:
    return ", ".join(f"{alias}{quoted(n)}" for n in names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
