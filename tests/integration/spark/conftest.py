"""Fixtures of Spark's integration tests."""

from standalone_cluster import standalone_cluster

__all__ = ["standalone_cluster"]
