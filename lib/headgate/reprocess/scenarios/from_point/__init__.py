"""Reprocess from a time or from offsets."""
