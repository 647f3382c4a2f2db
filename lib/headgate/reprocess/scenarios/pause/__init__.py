"""Pause a pipeline, and go on."""
