"""The Requests page."""
