"""The files of a checkpoint: offset log, commit log, sources, sinks."""
