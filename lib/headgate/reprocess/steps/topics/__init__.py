"""Steps on topics and subjects."""
