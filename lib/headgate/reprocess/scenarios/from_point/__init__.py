"""Read again from a time or from offsets."""
