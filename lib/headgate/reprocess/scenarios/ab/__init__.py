"""Two versions process the same records, and their results are compared."""
