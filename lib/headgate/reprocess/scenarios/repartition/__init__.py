"""Another number of partitions, with the state."""
