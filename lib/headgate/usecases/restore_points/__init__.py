"""Restore points: made while a pipeline runs, checked, listed, removed."""
