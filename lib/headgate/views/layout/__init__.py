"""A layered layout of one directed graph: ranks, order within ranks, coordinates."""
