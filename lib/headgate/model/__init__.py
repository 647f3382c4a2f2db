"""Frozen values without I/O, such as pipelines, versions, topologies and the cluster."""
