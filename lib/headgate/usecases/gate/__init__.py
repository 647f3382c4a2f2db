"""One check of everything that a working tree changes."""
