"""Add the column `resumes` to `runs`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    op.add_column("runs", sa.Column("resumes", sa.Boolean))
    # The stored plans are JSON text, with their options indented.
    op.execute(
        """UPDATE runs SET resumes = (plan LIKE '%"resume": true%') WHERE scenario = 'pause'"""
    )
