"""Executes queued runs; the only package that knows DBOS."""
