"""Readiness checks and schema checks."""
