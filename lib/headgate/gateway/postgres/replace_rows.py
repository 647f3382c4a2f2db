"""Upsert a run's results into a table, and keep the rows that they replace, in one transaction.

A run has three tables beside its target: `staged` has the results, `before` the rows that were
replaced, `after` the key and a hash of each row as it was written. `staged` goes in the transaction
that makes the other two, so that which of them is there says whether the results are in the table.

A run that recomputes all results of some keys has a fourth, `touched`, with these keys. Rows of
these keys that no result replaces are deleted; they are in `before`, but not in `after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headgate.errors import RefusedError, StepError
from headgate.gateway.postgres.statement import (
    Statement,
    quoted,
    row_hash,
    row_text,
    same_columns,
    same_key,
    written_since,
)
from headgate.model.tables import RowCounts, TableChange
from headgate.text.numbers import plural


def stage(connection: Any, change: TableChange) -> None:
    """Create the empty table for results, with the columns and types of the target."""
    sql = Statement(change)
    if exists(connection, change, change.after):
        raise StepError(
            f"{change.title} already has the results of this run, so the run can't write them "
            "again. Undo the run"
        )
    drop(connection, change.schema, change.own)
    connection.execute(
        sql.text("CREATE TABLE {staged} AS SELECT {written} FROM {table} WITH NO DATA")
    )
    if change.touched:
        connection.execute(
            sql.text("CREATE TABLE {touched} AS SELECT {touched_by} FROM {table} WITH NO DATA")
        )
    _keep_private(connection, change, change.own)


def _keep_private(connection: Any, change: TableChange, names: Iterable[str]) -> None:
    """Revoke what the schema's default privileges grant: others may not read the target."""
    granted = connection.execute(
        "SELECT DISTINCT relname, CASE grantee WHEN 0 THEN 'PUBLIC' "
        "ELSE quote_ident(pg_get_userbyid(grantee)) END "
        "FROM pg_class, aclexplode(relacl) WHERE relnamespace = %s::regnamespace "
        "AND relname = ANY (%s) AND grantee <> relowner",
        (quoted(change.schema), list(names)),
    ).fetchall()
    for name, role in granted:
        connection.execute(f"REVOKE ALL ON {quoted(change.schema)}.{quoted(name)} FROM {role}")


def oldest_transaction(connection: Any) -> int:
    """Return the number of the oldest transaction that is open, else of the next one."""
    found = connection.execute("SELECT txid_snapshot_xmin(txid_current_snapshot())")
    return int(found.fetchone()[0])


def staged_rows(connection: Any, change: TableChange) -> int:
    """Return how many rows the table for results has."""
    if not exists(connection, change, change.staged):
        return 0
    return int(
        connection.execute(Statement(change).text("SELECT count(*) FROM {staged}")).fetchone()[0]
    )


def replace_rows(connection: Any, change: TableChange) -> RowCounts | None:
    """Put the staged rows in place; None if it is done. RefusedError if keys don't identify a row.

    Other writers of the table wait until the end of the transaction; SELECTs don't.
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
    replaced, deleted = _keep_and_delete(connection, sql)
    connection.execute(
        sql.text(
            "INSERT INTO {table} ({written}) SELECT {written} FROM {staged} "
            "ON CONFLICT ({keys}) DO {update}"
        )
    )
    written = connection.execute(
        sql.text(
            "CREATE TABLE {after} AS SELECT {t_keys}, {hash} AS {hash_name} FROM {table} t "
            "WHERE {is_staged}",
            hash=row_hash(columns, "t"),
        )
    ).rowcount
    if written == staged:
        written -= _others(connection, sql)
    if written != staged:
        raise StepError(
            f"the run wrote {staged} results to {change.title}, but the table has only {written} "
            "of them: a database trigger changes or drops rows. Headgate rolled the transaction "
            "back. Disable the trigger, then resume the run"
        )
    drop(connection, change.schema, change.own)
    _keep_private(connection, change, (change.before, change.after))
    return RowCounts(added=staged - replaced, replaced=replaced, deleted=deleted)


def _others(connection: Any, sql: Statement) -> int:
    """Return how many rows with the key of a result are not as the result is.

    How many rows the upsert wrote doesn't say that: a trigger may also skip what is equal already.
    """
    # A key keeps its own form, such as the case of a citext.
    columns = [c for c in sql.change.written if c not in sql.change.keys]
    found = connection.execute(
        sql.text(
            "SELECT count(*) FROM {staged} s JOIN {table} t ON {same} "
            "WHERE {given} IS DISTINCT FROM {there}",
            same=same_key(sql.change, "s", "t"),
            given=row_text(columns, "s"),
            there=row_text(columns, "t"),
        )
    )
    return int(found.fetchone()[0])


def _keep_and_delete(connection: Any, sql: Statement) -> tuple[int, int]:
    """Keep the rows that go; return how many results will replace, and how many were deleted."""
    if not sql.change.touched:
        keep = sql.text("CREATE TABLE {before} AS SELECT t.* FROM {table} t WHERE {is_staged}")
        return connection.execute(keep).rowcount, 0
    kept = _keep_touched(connection, sql)
    _check_unchanged(connection, sql)
    _check_touched(connection, sql)
    missing = sql.text(
        "NOT EXISTS (SELECT FROM {staged} s WHERE {same})", same=same_key(sql.change, "s", "o")
    )
    expected = connection.execute(
        sql.text("SELECT count(*) FROM {before} o WHERE {missing}", missing=missing)
    ).fetchone()[0]
    deleted: int = connection.execute(
        sql.text(
            "DELETE FROM {table} t USING {before} o WHERE {same} AND {missing}",
            same=same_key(sql.change, "o", "t"),
            missing=missing,
        )
    ).rowcount
    if deleted != expected:
        raise StepError(
            f"the run deleted only {deleted} of {plural(expected, 'row')} of {sql.change.title}: a "
            "database trigger changes rows or prevents deletions. Headgate rolled the transaction "
            "back. Disable the trigger, then resume the run"
        )
    return kept - deleted, deleted


def _keep_touched(connection: Any, sql: Statement) -> int:
    """Copy the rows of the touched keys to `before`; return how many there are."""
    by = sql.change.touched_by
    connection.execute(sql.text("ANALYZE {touched}"))
    count: int = connection.execute(
        sql.text(
            "CREATE TABLE {before} AS SELECT t.* FROM {table} t "
            "WHERE EXISTS (SELECT FROM {touched} k WHERE {same})",
            same=same_columns(by, "k", "t"),
        )
    ).rowcount
    # IS NOT DISTINCT FROM compares each row with each key; by pattern of nulls, "=" does.
    flags = ", ".join(f"k.{quoted(c)} IS NULL" for c in by)
    patterns = connection.execute(sql.text("SELECT DISTINCT {flags} FROM {touched} k", flags=flags))
    for is_null in patterns.fetchall():
        empty = [c for c, null in zip(by, is_null, strict=True) if null]
        if not empty:
            continue
        same = [f"{alias}.{quoted(c)} IS NULL" for c in empty for alias in ("k", "t")]
        if filled := [c for c in by if c not in empty]:
            same.append(same_columns(filled, "k", "t"))
        count += connection.execute(
            sql.text(
                "INSERT INTO {before} SELECT t.* FROM {table} t "
                "WHERE EXISTS (SELECT FROM {touched} k WHERE {same})",
                same=" AND ".join(same),
            )
        ).rowcount
    return count


def _check_unchanged(connection: Any, sql: Statement) -> None:
    """RefusedError if somebody has written rows of the touched keys since the plan was made."""
    count, sample = connection.execute(
        sql.text(
            "SELECT count(*), min({key_text}) FROM {table} t JOIN {before} o ON {same} "
            "WHERE {is_newer}",
            same=same_key(sql.change, "o", "t"),
            is_newer=written_since(sql.change.oldest_transaction, "t"),
        )
    ).fetchone()
    if count:
        raise RefusedError(
            f"since the plan was made, another program may have changed {plural(count, 'row')} of "
            f"{sql.change.title} that the run would replace, for example {sample}. Stop the "
            "program that writes to this table, then run `headgate plan` again"
        )


def _check_touched(connection: Any, sql: Statement) -> None:
    """RefusedError if a row that goes can't be identified, or a row of another key would go."""
    keys = ", ".join(sql.change.keys)
    empty = connection.execute(sql.text("SELECT count(*) FROM {before} t WHERE {any_null}"))
    if count := empty.fetchone()[0]:
        raise RefusedError(
            f"Headgate can't replace {plural(count, 'row')} of {sql.change.title}, because a key "
            f"column is null ({keys}). Delete these rows, then run `headgate plan` again"
        )
    other = connection.execute(
        sql.text(
            "SELECT {key_text} FROM {table} t WHERE {is_staged} "
            "AND NOT EXISTS (SELECT FROM {before} o WHERE {same}) LIMIT 1",
            same=same_key(sql.change, "o", "t"),
        )
    ).fetchone()
    if other:
        todo = "Add the columns of --keys to the table's unique index"
        if set(sql.change.touched_by) <= set(sql.change.keys):
            todo = "No late record has this key. Run `headgate plan` again"
        raise RefusedError(
            f"a result would overwrite a row of another key in {sql.change.title} ({other[0]}). "
            f"The unique columns of this table are {keys}. {todo}"
        )


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
