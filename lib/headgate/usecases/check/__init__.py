"""Readiness and schemas."""
