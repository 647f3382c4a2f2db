"""Plans as Spark's own JSON."""
