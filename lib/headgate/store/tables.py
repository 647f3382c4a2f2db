"""The tables as SQLAlchemy Core sees them; `migrations/` creates them."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

VERSIONS = sa.Table(
    "versions",
    METADATA,
    sa.Column("pipeline", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("captured_at", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False, server_default="observed"),
    sa.Column("document", sa.LargeBinary, nullable=False),
)

RUNS = sa.Table(
    "runs",
    METADATA,
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
    sa.Column("resumes", sa.Boolean),
)

RUN_RESOURCES = sa.Table(
    "run_resources",
    METADATA,
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("resource", sa.Text, primary_key=True, index=True),
)

JOURNAL = sa.Table(
    "journal",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)

PROGRESS = sa.Table(
    "progress",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)

STEP_PROGRESS = sa.Table(
    "step_progress",
    METADATA,
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("total", sa.BigInteger),
    sa.Column("first_done", sa.BigInteger, nullable=False),
    sa.Column("first_at", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)

STEP_DOCUMENTS = sa.Table(
    "step_documents",
    METADATA,
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)

AUDIT = sa.Table(
    "audit",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("run", sa.Text, index=True),
    sa.Column("pipeline", sa.Text),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("request", sa.Text, index=True),
)

REQUESTS = sa.Table(
    "requests",
    METADATA,
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

ACTIVITY = sa.Table(
    "activity",
    METADATA,
    sa.Column("pipeline", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("since", sa.Text),
    sa.Column("seen_at", sa.Text),
    sa.Column("looked_at", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
)

LOCATIONS = sa.Table(
    "locations",
    METADATA,
    sa.Column("pipeline", sa.Text, primary_key=True),
    sa.Column("declared", sa.Text, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)

RESTORE_POINTS = sa.Table(
    "restore_points",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("pipeline", sa.Text, nullable=False, index=True),
    sa.Column("made_at", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("checked_at", sa.Text),
    sa.Column("problem", sa.Text),
    sa.Column("rows", sa.BigInteger),
)

RESTORE_POINT_TRIES = sa.Table(
    "restore_point_tries",
    METADATA,
    sa.Column("pipeline", sa.Text, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("error", sa.Text),
)

SCHEDULES = sa.Table(
    "schedules",
    METADATA,
    sa.Column("pipeline", sa.Text, primary_key=True),
    sa.Column("document", sa.Text, nullable=False),
)

SCHEDULE_TICKS = sa.Table(
    "schedule_ticks",
    METADATA,
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
