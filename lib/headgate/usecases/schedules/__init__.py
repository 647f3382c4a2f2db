"""Decide the ticks of schedules, and list, pause and resume schedules."""
