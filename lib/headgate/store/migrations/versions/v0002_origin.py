"""Tell versions that were seen running from those that somebody captured."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the store to this revision."""
    origin = sa.Column("origin", sa.Text, nullable=False, server_default="observed")
    op.add_column("versions", origin)


def downgrade() -> None:
    """Take it back."""
    op.drop_column("versions", "origin")
