"""Compare two outputs of pipelines."""
