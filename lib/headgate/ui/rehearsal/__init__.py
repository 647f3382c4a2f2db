"""Rehearsals on the Compare page."""
