"""Schedules: decide their ticks, list them, pause them."""
