"""All tables. Stores of revisions 0001 to 0006 were made before the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
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
        sa.Column("origin", sa.Text, nullable=False, server_default="observed"),
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
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text),
        sa.Column("ended_at", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("undo_of", sa.Text, index=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("slot", sa.Text),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
    )
    op.create_table(
        "run_resources",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("resource", sa.Text, primary_key=True, index=True),
    )
    op.create_table(
        "journal",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False, index=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_table(
        "progress",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False, index=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
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
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("run", sa.Text, index=True),
        sa.Column("pipeline", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("request", sa.Text, index=True),
    )
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
    op.create_table(
        "activity",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("since", sa.Text),
        sa.Column("seen_at", sa.Text),
        sa.Column("looked_at", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "locations",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("declared", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
