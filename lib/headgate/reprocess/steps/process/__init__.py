"""Steps on processes: stop, start, pause."""
