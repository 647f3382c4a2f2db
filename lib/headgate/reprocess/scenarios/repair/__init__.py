"""Mend what keeps a pipeline from starting."""
