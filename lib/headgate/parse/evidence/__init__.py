"""Which kind a file is, and all pieces of evidence to one version: the door of `parse`."""
