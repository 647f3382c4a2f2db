"""Tables in PostgreSQL: read, replaced by a run, restored by its undo."""
