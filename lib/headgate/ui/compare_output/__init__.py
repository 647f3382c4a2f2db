"""The page that compares two outputs."""
