"""Rewind a pipeline and its downstream pipelines to one target time."""
