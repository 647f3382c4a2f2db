"""Upsert a run's results into a table, and keep the rows that they replace, in one transaction.

A run has three tables beside its target: `staged` has the results, `before` the rows that were
replaced, `after` the key and a hash of each row as it was written. `staged` goes in the transaction
that makes the other two, so that which of them is there says whether the results are in the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headgate.errors import RefusedError, StepError
from headgate.model.tables import RowCounts, TableChange
from headgate.text.numbers import plural

HASH = "headgate_row"


def stage(connection: Any, change: TableChange) -> None:
    """Create the empty table for results, with the columns and types of the target."""
    sql = Statement(change)
    if exists(connection, change, change.after):
        raise StepError(f"the results are already in {change.title}. Undo the run")
    connection.execute(sql.text("DROP TABLE IF EXISTS {staged}"))
    connection.execute(
        sql.text("CREATE TABLE {staged} AS SELECT {written} FROM {table} WITH NO DATA")
    )


def staged_rows(connection: Any, change: TableChange) -> int:
    """Return how many rows the table for results has."""
    if not exists(connection, change, change.staged):
        return 0
    return int(
        connection.execute(Statement(change).text("SELECT count(*) FROM {staged}")).fetchone()[0]
    )


def replace_rows(connection: Any, change: TableChange) -> RowCounts | None:
    """Upsert the staged rows; None if it is done. RefusedError for keys that don't identify one.

    Other writers of the table wait until the end of the transaction; readers don't.
    """
    sql = Statement(change)
    if exists(connection, change, change.staged):
        connection.execute(sql.text("ANALYZE {staged}"))
        _check_keys(connection, sql)
    lock(connection, sql)
    # A server may still have committed what a killed worker sent.
    if exists(connection, change, change.after):
        return None
    if not exists(connection, change, change.staged):
        raise StepError(
            f"table {change.schema}.{change.staged} with the results no longer exists. Undo the "
            "run, then run `headgate plan` again"
        )
    staged = connection.execute(sql.text("SELECT count(*) FROM {staged}")).fetchone()[0]
    columns = table_columns(connection, change)
    replaced = connection.execute(
        sql.text("CREATE TABLE {before} AS SELECT t.* FROM {table} t WHERE EXISTS ({of_staged})")
    ).rowcount
    connection.execute(
        sql.text(
            "INSERT INTO {table} ({written}) SELECT {written} FROM {staged} "
            "ON CONFLICT ({keys}) DO {update}"
        )
    )
    written = connection.execute(
        sql.text(
            "CREATE TABLE {after} AS SELECT {t_keys}, {hash} AS {hash_name} FROM {table} t "
            "WHERE EXISTS ({of_staged})",
            hash=row_hash(columns, "t"),
        )
    ).rowcount
    if written != staged:
        raise StepError(
            f"the run wrote {staged} results to {change.title}, but the table has only {written} "
            "of them: a trigger changes or drops rows. Headgate rolled the transaction back"
        )
    connection.execute(sql.text("DROP TABLE {staged}"))
    return RowCounts(added=staged - replaced, replaced=replaced)


def drop(connection: Any, schema: str, names: Iterable[str]) -> None:
    """Drop tables that a run has created; fine if they are gone."""
    for name in names:
        connection.execute(f"DROP TABLE IF EXISTS {quoted(schema)}.{quoted(name)}")


def sizes(connection: Any, tables: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the bytes of those tables, as schema and name, that are there."""
    schemas, names = zip(*tables, strict=True)
    found = connection.execute(
        "SELECT n.nspname, c.relname, pg_total_relation_size(c.oid) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "JOIN unnest(%s::text[], %s::text[]) AS t(schema, name) "
        "ON n.nspname = t.schema AND c.relname = t.name",
        (list(schemas), list(names)),
    )
    return {(schema, name): int(count) for schema, name, count in found}


def exists(connection: Any, change: TableChange, name: str) -> bool:
    """Return whether a table of the run is there."""
    found = connection.execute(
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = %s",
        (change.schema, name),
    )
    return found.fetchone() is not None


def lock(connection: Any, sql: Statement) -> None:
    """Keep other writers out until the end of the transaction."""
    connection.execute(sql.text("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"))
    found = connection.execute("SELECT to_regclass(%s)::oid::text", (sql.target,)).fetchone()[0]
    if found != sql.change.table_id:
        raise RefusedError(
            f"table {sql.change.title} was dropped and created again since the plan was made. Run "
            "`headgate plan` again"
        )


def table_columns(connection: Any, change: TableChange) -> list[str]:
    """Return the names of the target's columns."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::oid AND attnum > 0 "
        "AND NOT attisdropped ORDER BY attnum",
        (change.table_id,),
    )
    return [row[0] for row in found.fetchall()]


def _check_keys(connection: Any, sql: Statement) -> None:
    keys = ", ".join(sql.change.keys)
    empty = connection.execute(sql.text("SELECT count(*) FROM {staged} t WHERE {any_null}"))
    if count := empty.fetchone()[0]:
        raise RefusedError(
            f"key columns ({keys}) are null in {plural(count, 'result')}. Choose other columns in "
            "--keys"
        )
    twice = connection.execute(
        sql.text(
            "SELECT {key_text}, count(*) FROM {staged} t GROUP BY {t_keys} HAVING count(*) > 1 "
            "LIMIT 1"
        )
    ).fetchone()
    if twice:
        raise RefusedError(
            f"{twice[1]} results have the same key ({twice[0]}). Pass all columns that identify a "
            "result in --keys"
        )


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
        own = (change.staged, change.before, change.after)
        staged, before, after = (f"{quoted(change.schema)}.{quoted(n)}" for n in own)
        values = {
            "table": self.target,
            "staged": staged,
            "before": before,
            "after": after,
            "written": _joined(change.written),
            "keys": _joined(change.keys),
            "t_keys": _joined(change.keys, "t."),
            "key_text": key_text(change, "t."),
            "any_null": " OR ".join(f"t.{quoted(c)} IS NULL" for c in change.keys),
            "update": f"UPDATE SET {updates}" if updates else "NOTHING",
            "of_staged": f"SELECT FROM {staged} s WHERE {same_key(change, 's', 't')}",
            "hash_name": quoted(HASH),
        }
        return template.format(**values, **more)


def quoted(name: str) -> str:
    """Return a name as PostgreSQL takes it whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def same_key(change: TableChange, one: str, other: str) -> str:
    """Return the condition that rows of two aliases have the same key."""
    pairs = (f"{one}.{quoted(c)} = {other}.{quoted(c)}" for c in change.keys)
    return " AND ".join(pairs)


def key_text(change: TableChange, alias: str) -> str:
    """Return an expression with a key in words, such as `city=Rome, day=2026-04-01`."""
    parts = (f"{_literal(c + '=')} || {alias}{quoted(c)}::text" for c in change.keys)
    return " || ', ' || ".join(parts)


def row_text(columns: Iterable[str], alias: str) -> str:
    """Return an expression with a row's values as one text; json has no comparison, text has."""
    return f"ROW({_joined(columns, f'{alias}.')})::text"


def row_hash(columns: Iterable[str], alias: str) -> str:
    """Return an expression with a hash of a row's values."""
    text = row_text(columns, alias)
    return f"encode(sha256(convert_to({text}, getdatabaseencoding())), 'hex')"


def _joined(names: Iterable[str], alias: str = "") -> str:
    return ", ".join(f"{alias}{quoted(n)}" for n in names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
