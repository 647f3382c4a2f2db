"""Apply, undo, resume, cancel, list and clean up runs, and follow them until they catch up."""
