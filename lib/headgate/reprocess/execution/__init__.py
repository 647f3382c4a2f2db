"""Carry out a plan, undo it, and hold what is suspended meanwhile."""
