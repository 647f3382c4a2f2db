"""The fields of a schema as a table for a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from headgate.model.topic_schema import SchemaField


def fields_table(fields: tuple[SchemaField, ...]) -> Table:
    """Return the fields as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("field", "type", "optional", "default"):
        table.add_column(column, overflow="fold")
    for f in fields:
        default = f.default if f.has_default else ""
        table.add_row(Text(f.path), Text(f.type), "yes" if f.optional else "", Text(default))
    return table
