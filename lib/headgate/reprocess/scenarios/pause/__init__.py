"""Pause a pipeline, and resume it."""
