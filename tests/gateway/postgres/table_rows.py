"""What tests look at in the tables of a database."""

from headgate.model.tables import TableChange


def change_of(tables, name, keys, written, touched_by=()):
    """Return the change of a run whose id is 1."""
    found = tables.table("shop", name)
    return TableChange(
        connection="shop", schema=found.schema, table=found.name, table_id=found.id,
        keys=keys, written=written, staged="headgate_staged_1", before="headgate_before_1",
        after="headgate_after_1", touched="headgate_touched_1" if touched_by else "",
        touched_by=touched_by, oldest_transaction=tables.oldest_transaction("shop"),
    )  # fmt: skip


def rows(database, table='"Odd {}"'):
    return sorted(database.execute(f"SELECT t::text FROM {table} t").fetchall())


def own(database):
    query = "SELECT relname FROM pg_class WHERE relname LIKE 'headgate%' ORDER BY 1"
    return [name for (name,) in database.execute(query).fetchall()]
