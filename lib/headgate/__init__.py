"""Headgate: see, judge and act on streaming pipelines over Kafka."""

__version__ = "0.1.0"
