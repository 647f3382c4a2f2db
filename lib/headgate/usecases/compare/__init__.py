"""Two versions of one pipeline."""
