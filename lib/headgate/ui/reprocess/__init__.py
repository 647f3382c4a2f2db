"""The Reprocess page."""
