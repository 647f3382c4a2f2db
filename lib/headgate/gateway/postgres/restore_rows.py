"""Restore the rows that a run's results have replaced, and delete those that it added."""

from __future__ import annotations

from typing import Any

from headgate.errors import RefusedError
from headgate.gateway.postgres.replace_rows import (
    Statement,
    exists,
    key_text,
    lock,
    quoted,
    row_hash,
    row_text,
    same_key,
    table_columns,
)
from headgate.model.tables import LaterChanges, TableChange
from headgate.text.numbers import plural

# The comment of `after` once the rows are restored: until it is dropped, it says so.
_RESTORED = "restored"


def is_restored(connection: Any, change: TableChange) -> bool:
    """Return whether the rows are as before, or were never replaced.

    RefusedError if the tables that say so are gone.
    """
    if not exists(connection, change, change.after):
        if exists(connection, change, change.staged):
            return True
        raise RefusedError(_gone(change, change.after))
    name = f"{quoted(change.schema)}.{quoted(change.after)}"
    found = connection.execute("SELECT obj_description(%s::regclass, 'pg_class')", (name,))
    if found.fetchone()[0] == _RESTORED:
        return True
    if not exists(connection, change, change.before):
        raise RefusedError(_gone(change, change.before))
    return False


def _gone(change: TableChange, name: str) -> str:
    return (
        f"table {change.schema}.{name} of the run no longer exists, so Headgate can't restore its "
        f"rows. Restore {change.title} from a backup"
    )


def later_changes(connection: Any, change: TableChange) -> LaterChanges | None:
    """Return what was changed since the run; None if it wrote nothing, or all is restored."""
    if is_restored(connection, change):
        return None
    sql = Statement(change)
    found = connection.execute(
        sql.text(
            "SELECT count(*), min({key}) FROM {after} n LEFT JOIN {table} t ON {same} "
            "WHERE {hash} IS DISTINCT FROM n.{hash_name}",
            key=key_text(change, "n."),
            same=same_key(change, "n", "t"),
            hash=row_hash(_columns_then(connection, change), "t"),
        )
    ).fetchone()
    return LaterChanges(found[0], found[1] or "")


def restore_rows(connection: Any, change: TableChange) -> None:
    """Delete and restore rows; RefusedError if one was changed, or can't be exactly restored."""
    sql = Statement(change)
    lock(connection, sql)
    changed = later_changes(connection, change)
    if changed is None:
        return
    if changed.count:
        raise RefusedError(changed.sentence(change.title))
    connection.execute(
        sql.text(
            "DELETE FROM {table} t USING {after} n WHERE {same} AND {is_new}",
            same=same_key(change, "n", "t"),
            is_new=_is_new(sql),
        )
    )
    _restore(connection, sql)
    _check(connection, sql)
    connection.execute(sql.text("DROP TABLE {before}"))
    connection.execute(sql.text("COMMENT ON TABLE {after} IS '{mark}'", mark=_RESTORED))


def _is_new(sql: Statement) -> str:
    """Return the condition that the run added the row `n` of `after`."""
    same = same_key(sql.change, "o", "n")
    return sql.text("NOT EXISTS (SELECT FROM {before} o WHERE {same})", same=same)


def _restore(connection: Any, sql: Statement) -> None:
    change = sql.change
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::oid AND attnum > 0 "
        "AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a' ORDER BY attnum",
        (change.table_id,),
    )
    then = _columns_then(connection, change)
    kept = [r[0] for r in found.fetchall() if r[0] not in change.keys and r[0] in then]
    if kept:
        connection.execute(
            sql.text(
                "UPDATE {table} t SET {sets} FROM {before} o WHERE {same}",
                sets=", ".join(f"{quoted(c)} = o.{quoted(c)}" for c in kept),
                same=same_key(change, "o", "t"),
            )
        )


def _check(connection: Any, sql: Statement) -> None:
    """RefusedError unless each replaced row is as it was, and each added one is gone."""
    change = sql.change
    columns = _columns_then(connection, change)
    wrong = connection.execute(
        sql.text(
            "SELECT count(*) FROM {before} o LEFT JOIN {table} t ON {same} "
            "WHERE {now} IS DISTINCT FROM {then}",
            same=same_key(change, "o", "t"),
            now=row_text(columns, "t"),
            then=row_text(columns, "o"),
        )
    ).fetchone()[0]
    left = connection.execute(
        sql.text(
            "SELECT count(*) FROM {after} n JOIN {table} t ON {same} WHERE {is_new}",
            same=same_key(change, "n", "t"),
            is_new=_is_new(sql),
        )
    ).fetchone()[0]
    if wrong or left:
        raise RefusedError(
            f"{plural(wrong + left, 'row')} of {change.title} can't be restored exactly, because a "
            "trigger changes rows. Disable the trigger, then undo the run again"
        )


def _columns_then(connection: Any, change: TableChange) -> list[str]:
    """Return the columns that the table had when the run wrote to it, and still has."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped ORDER BY attnum",
        (f"{quoted(change.schema)}.{quoted(change.before)}",),
    )
    there = set(table_columns(connection, change))
    return [row[0] for row in found.fetchall() if row[0] in there]
