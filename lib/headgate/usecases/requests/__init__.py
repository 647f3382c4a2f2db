"""Ask for a run, decide, list."""
