"""Expressions in plan text."""
