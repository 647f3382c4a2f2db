"""Stop, deploy a new version with the old state, and verify it."""
