"""Read everything again with an empty state."""
