"""What a pipeline, a version, a topology and a cluster are: frozen values, no I/O."""
