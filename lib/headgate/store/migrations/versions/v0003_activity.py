"""Keep how each pipeline was seen last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "activity",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("since", sa.Text),
        sa.Column("seen_at", sa.Text),
        sa.Column("looked_at", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("activity")
