"""Operators of a plan, and the table that says where a new one is added."""
