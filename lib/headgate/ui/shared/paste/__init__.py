"""A text area that tells what was pasted at once, not only once it is left."""
