"""Before x after -> findings: what an engine does when a new version restores old state."""
