"""What the readiness rules read."""
