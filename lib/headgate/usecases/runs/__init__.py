"""Apply, undo, resume, cancel, list, clean, catch up."""
