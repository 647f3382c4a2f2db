"""Alembic's migrations of the store; `store/migrate.py` runs them."""
