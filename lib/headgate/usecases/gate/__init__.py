"""Check all pipelines that a working tree changes."""
