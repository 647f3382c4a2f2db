"""Decommission a pipeline, and remove everything that it owns."""
