"""Hues and icons that pages and exported pictures have in common."""
