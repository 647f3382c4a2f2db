"""One module a scenario."""
