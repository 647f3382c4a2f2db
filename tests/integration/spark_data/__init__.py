"""Scenarios that process data on Spark, on a real broker."""
