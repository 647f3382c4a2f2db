"""The Landscape page."""
