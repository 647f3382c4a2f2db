"""Steps on a group's offsets and members."""
