"""Implements `reprocess/ports`, with the ports' names."""
