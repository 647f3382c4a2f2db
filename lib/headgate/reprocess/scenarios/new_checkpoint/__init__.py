"""Continue in a new checkpoint at the old offsets."""
