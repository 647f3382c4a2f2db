"""Keep what was asked for, and who decided on it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "requests",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("scenario", sa.Text, nullable=False),
        sa.Column("pipeline", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("plan_hash", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("asked_at", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("decided_at", sa.Text),
        sa.Column("decided_by", sa.Text),
        sa.Column("decision", sa.Text),
        sa.Column("run", sa.Text, index=True),
    )
    op.add_column("audit", sa.Column("request", sa.Text))
    op.create_index("ix_audit_request", "audit", ["request"])


def downgrade() -> None:
    """Take it back."""
    op.drop_index("ix_audit_request", "audit")
    op.drop_column("audit", "request")
    op.drop_table("requests")
