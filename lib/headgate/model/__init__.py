"""Frozen values without I/O: pipelines, versions, topologies, the cluster, plans of schedules."""
