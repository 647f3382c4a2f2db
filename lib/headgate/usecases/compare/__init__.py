"""Compare two versions of one pipeline."""
