"""Restore the rows that a run has replaced or deleted, and delete those that it added."""

from __future__ import annotations

from typing import Any

from headgate.errors import RefusedError
from headgate.gateway.postgres.replace_rows import exists, lock, table_columns
from headgate.gateway.postgres.statement import (
    Statement,
    key_text,
    quoted,
    row_hash,
    row_text,
    same_key,
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
        f"table {change.schema}.{name} of the run no longer exists, so Headgate can't restore the "
        f"rows of {change.title}. Restore {change.title} from a backup"
    )


def later_changes(connection: Any, change: TableChange) -> LaterChanges | None:
    """Return what was changed since the run; None if it wrote nothing, or all is restored."""
    if is_restored(connection, change):
        return None
    sql = Statement(change)
    written = connection.execute(
        sql.text(
            "SELECT count(*), min({key}) FROM {after} n LEFT JOIN {table} t ON {same} "
            "WHERE {hash} IS DISTINCT FROM n.{hash_name}",
            key=key_text(change, "n."),
            same=same_key(change, "n", "t"),
            hash=row_hash(_columns_then(connection, change), "t"),
        )
    ).fetchone()
    # The run deleted them, and somebody has added rows with their keys.
    added = connection.execute(
        sql.text(
            "SELECT count(*), min({key}) FROM {before} o JOIN {table} t ON {same} "
            "WHERE {is_deleted}",
            key=key_text(change, "o."),
            same=same_key(change, "o", "t"),
            is_deleted=_is_deleted(sql),
        )
    ).fetchone()
    return LaterChanges(written[0] + added[0], written[1] or added[1] or "")


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


def _is_deleted(sql: Statement) -> str:
    """Return the condition that the run deleted the row `o` of `before`."""
    same = same_key(sql.change, "n", "o")
    return sql.text("NOT EXISTS (SELECT FROM {after} n WHERE {same})", same=same)


def _restore(connection: Any, sql: Statement) -> None:
    change = sql.change
    found = connection.execute(
        "SELECT attname, attidentity FROM pg_attribute WHERE attrelid = %s::oid AND attnum > 0 "
        "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        (change.table_id,),
    ).fetchall()
    then = _columns_then(connection, change)
    columns = {name: identity for name, identity in found if name in then}
    kept = [c for c, identity in columns.items() if c not in change.keys and identity != "a"]
    if kept:
        connection.execute(
            sql.text(
                "UPDATE {table} t SET {sets} FROM {before} o WHERE {same}",
                sets=", ".join(f"{quoted(c)} = o.{quoted(c)}" for c in kept),
                same=same_key(change, "o", "t"),
            )
        )
    if change.touched:
        # After the update: a replaced row may still have a unique value of a deleted one.
        # A deleted row gets its old number, too; that of a replaced row is the same.
        connection.execute(
            sql.text(
                "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "
                "SELECT {columns} FROM {before} o WHERE {is_deleted}",
                columns=", ".join(map(quoted, columns)),
                is_deleted=_is_deleted(sql),
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
            "database trigger changes rows. Disable the trigger, then undo the run again"
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
