"""The Schedules page."""
