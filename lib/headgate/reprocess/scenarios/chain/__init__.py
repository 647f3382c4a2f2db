"""One pipeline and those downstream of it, to one moment."""
