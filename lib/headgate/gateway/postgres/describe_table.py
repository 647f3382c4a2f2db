"""What a table is, and what this user may do with it, from PostgreSQL's catalog."""

from __future__ import annotations

from typing import Any

from headgate.errors import RefusedError
from headgate.model.tables import DatabaseTable, TableColumn

_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_KINDS = {"v": "a view", "m": "a materialized view", "f": "a foreign table", "S": "a sequence"}
_TABLE = """
SELECT c.oid::text, n.nspname, c.relname, c.relkind::text, row_security_active(c.oid),
    has_schema_privilege(n.oid, 'CREATE'), pg_is_in_recovery(),
    EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type <> '1'),
    c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),
    (SELECT string_agg(concat_ws('/', p.oid, pg_relation_filenode(p.oid),
        pg_stat_get_tuples_inserted(p.oid), pg_stat_get_tuples_updated(p.oid),
        pg_stat_get_tuples_deleted(p.oid)), ' ' ORDER BY p.oid)
    FROM (SELECT c.oid UNION SELECT relid FROM pg_partition_tree(c.oid)) p (oid))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)
"""
_COLUMNS = """
SELECT a.attname, coalesce(b.typname, t.typname), format_type(a.atttypid, a.atttypmod),
    coalesce(b.typcategory, t.typcategory)::text,
    CASE WHEN coalesce(b.typname, t.typname) = 'numeric' THEN nullif(
        CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, -1) END,
    NOT a.attnotnull OR a.atthasdef OR a.attidentity <> '',
    a.attgenerated <> '' OR a.attidentity = 'a'
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd'
WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
# Those that `ON CONFLICT (columns)` can name.
_UNIQUE = """
SELECT ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid
    AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
FROM pg_index i WHERE i.indrelid = %s::oid AND i.indisunique AND i.indisvalid AND i.indimmediate
    AND i.indpred IS NULL AND i.indexprs IS NULL
"""
# The table and its partitions, which may have triggers of their own, and be referred to.
_PARTS = "(SELECT %s::oid UNION SELECT relid FROM pg_partition_tree(%s::oid)) p (part)"
_TRIGGERS = f"""
SELECT DISTINCT tgname FROM pg_trigger JOIN {_PARTS} ON tgrelid = part
WHERE NOT tgisinternal AND tgenabled <> 'D' ORDER BY 1
"""
_CASCADES = f"""
SELECT DISTINCT conrelid::regclass::text FROM pg_constraint JOIN {_PARTS} ON confrelid = part
WHERE contype = 'f' AND confdeltype IN ('c', 'n', 'd') ORDER BY 1
"""


def describe_table(connection: Any, database: str, name: str) -> DatabaseTable | None:
    """Return the table, None if there is none; RefusedError for a name that can't be looked up."""
    import psycopg

    try:
        row = connection.execute(_TABLE, (name,)).fetchone()
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.InvalidName,
        psycopg.errors.SyntaxError,
    ) as error:
        raise RefusedError(
            f"table {name} of database {database} can't be looked up: "
            f"{error.diag.message_primary}. Check the name and the user's privileges"
        ) from None
    if row is None:
        return None
    oid, schema, table, kind, hidden, may_create, standby, rules, parent, content = row
    title = f"{schema}.{table}"
    obstacles = (
        (kind not in "rp", f"{title} is {_KINDS.get(kind, 'not a table')}: pass a table"),
        (hidden, f"row security hides rows of {title} from this user: use a user with BYPASSRLS"),
        (standby, f"database {database} is a read-only standby: use the primary"),
        (rules, f"{title} has rules: PostgreSQL can't upsert into this table. Drop the rules"),
        (
            parent,
            f"other tables inherit from {title}, so its keys aren't unique. Pass another table",
        ),
    )
    return DatabaseTable(
        connection=database,
        schema=schema,
        name=table,
        id=oid,
        columns=tuple(map(_column, connection.execute(_COLUMNS, (oid,)).fetchall())),
        unique=tuple(frozenset(r[0]) for r in connection.execute(_UNIQUE, (oid,)).fetchall()),
        missing=_missing(connection, oid, title, schema, may_create=may_create),
        obstacles=tuple(said for is_true, said in obstacles if is_true),
        triggers=_names(connection, _TRIGGERS, oid),
        cascades=_names(connection, _CASCADES, oid),
        content=content,
    )


def _missing(
    connection: Any, oid: str, title: str, schema: str, *, may_create: bool
) -> tuple[str, ...]:
    """Return the rights that the user lacks."""
    asked = "SELECT " + ", ".join("has_table_privilege(%s::oid, %s)" for _ in _RIGHTS)
    has = connection.execute(asked, [v for right in _RIGHTS for v in (oid, right)]).fetchone()
    found = [f"{r} on {title}" for r, there in zip(_RIGHTS, has, strict=True) if not there]
    return (*found, *(() if may_create else (f"CREATE on schema {schema}",)))


def _column(row: Any) -> TableColumn:
    name, kind, declared, category, modifier, is_filled, is_computed = row
    return TableColumn(
        name=name,
        kind=kind,
        type=declared,
        category=category,
        # 11 bits with a sign, of PostgreSQL's numeric_typmod_scale.
        scale=None if modifier is None else (((modifier - 4) & 0x7FF) ^ 1024) - 1024,
        is_filled=is_filled,
        is_computed=is_computed,
    )


def _names(connection: Any, query: str, oid: str) -> tuple[str, ...]:
    return tuple(row[0] for row in connection.execute(query, (oid, oid)).fetchall())
