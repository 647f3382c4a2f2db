"""Outputs of pipelines: compare two of them."""
