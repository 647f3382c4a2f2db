"""Repair what keeps a pipeline from starting."""
