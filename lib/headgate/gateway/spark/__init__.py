"""Spark jobs, Spark's REST interface, event logs and watches."""
