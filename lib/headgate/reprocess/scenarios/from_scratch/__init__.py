"""Reprocess everything with empty state."""
