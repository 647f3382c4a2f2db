"""The first tables: versions, runs, journal, progress, audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.create_table(
        "versions",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("captured_at", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("scenario", sa.Text, nullable=False),
        sa.Column("pipeline", sa.Text),
        sa.Column("plan_hash", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text),
        sa.Column("ended_at", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("undo_of", sa.Text),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("slot", sa.Text),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
    )
    op.create_index("ix_runs_state", "runs", ["state"])
    op.create_index("ix_runs_undo_of", "runs", ["undo_of"])
    op.create_table(
        "run_resources",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("resource", sa.Text, primary_key=True),
    )
    op.create_index("ix_run_resources_resource", "run_resources", ["resource"])
    for table, columns in _LOGS.items():
        op.create_table(
            table,
            sa.Column("seq", sa.Integer, primary_key=True),
            sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False),
            sa.Column("position", sa.Integer, nullable=False),
            *(sa.Column(name, sa.Text, nullable=False) for name in columns),
            sa.Column("at", sa.Text, nullable=False),
        )
        op.create_index(f"ix_{table}_run", table, ["run"])
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("run", sa.Text),
        sa.Column("pipeline", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("ix_audit_run", "audit", ["run"])


def downgrade() -> None:
    """Take the store back to nothing."""
    for table in ("audit", "progress", "journal", "run_resources", "runs", "versions"):
        op.drop_table(table)


_LOGS = {"journal": ("event", "data"), "progress": ("message",)}
