"""Stop, deploy a new version on the old state, and prove it."""
