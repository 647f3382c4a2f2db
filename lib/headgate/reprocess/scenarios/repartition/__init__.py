"""Change the number of partitions, and keep or rebuild the state."""
