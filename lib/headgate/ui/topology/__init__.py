"""The Topology page."""
