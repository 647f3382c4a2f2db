"""Spark's plans, checkpoints and what a session knows, read into one version."""
