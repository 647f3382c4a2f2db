"""A text area that sends pasted text at once, not only once it loses focus."""
