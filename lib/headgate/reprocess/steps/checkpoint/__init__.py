"""Steps on checkpoints."""
