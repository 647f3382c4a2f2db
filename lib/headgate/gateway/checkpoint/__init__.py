"""Checkpoints on disk: read, copy, create, rewind, back up."""
