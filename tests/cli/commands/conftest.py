"""A real clone for tests of the gate."""

from support.git_clone import clone

__all__ = ["clone"]
