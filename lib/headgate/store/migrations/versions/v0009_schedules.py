"""Schedules of bounded runs, and their ticks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "schedules",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "schedule_ticks",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("due_at", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("missed", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("run", sa.Text, index=True),
        sa.Column("request", sa.Text),
        sa.Column("records", sa.BigInteger),
    )
