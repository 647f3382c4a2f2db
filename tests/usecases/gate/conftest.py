"""A real clone for tests of the gate."""

from git_clone import clone

__all__ = ["clone"]
