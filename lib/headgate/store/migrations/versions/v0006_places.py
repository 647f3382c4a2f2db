"""Keep where runs have led the checkpoints of queries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "places",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("declared", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("places")
