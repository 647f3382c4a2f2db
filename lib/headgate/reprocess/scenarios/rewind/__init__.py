"""Rewind to an earlier batch, with the state of that batch."""
