"""Restarts to record; nothing here says how they end."""
