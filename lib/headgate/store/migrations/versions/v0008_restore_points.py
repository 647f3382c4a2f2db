"""Restore points, and the newest try to make one of each pipeline."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "restore_points",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("pipeline", sa.Text, nullable=False, index=True),
        sa.Column("made_at", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("checked_at", sa.Text),
        sa.Column("problem", sa.Text),
        sa.Column("rows", sa.BigInteger),
    )
    op.create_table(
        "restore_point_tries",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
    )
