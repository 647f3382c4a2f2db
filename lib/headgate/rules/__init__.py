"""Before x after -> findings: what an engine does when a new version takes over old state."""
