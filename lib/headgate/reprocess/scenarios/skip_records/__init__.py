"""Skip records at which a pipeline fails."""
