"""Decommission a pipeline with all that is its own."""
