"""The scenario incremental."""
