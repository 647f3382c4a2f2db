"""The scenario bounded."""
