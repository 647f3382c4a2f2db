"""Start a new version on a copy."""
