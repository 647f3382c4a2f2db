"""Leave out records that a pipeline fails at."""
