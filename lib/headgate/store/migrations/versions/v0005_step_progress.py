"""Keep how far a step is: what is done of how much, beside the messages for people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "step_progress",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("unit", sa.Text, primary_key=True),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger),
        sa.Column("first_done", sa.BigInteger, nullable=False),
        sa.Column("first_at", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("step_progress")
