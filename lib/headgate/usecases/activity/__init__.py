"""Whether a pipeline runs, is paused, and how fast it is."""
