"""Forms that take evidence."""
