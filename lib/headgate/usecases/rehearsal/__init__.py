"""Rehearsals and twin runs: start a new version on copies, or both versions on generated rows."""
