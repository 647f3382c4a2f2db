"""The scenario dead-letters."""
