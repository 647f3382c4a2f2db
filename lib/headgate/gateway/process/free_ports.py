"""Find free ports on loopback."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_port(preferred: int = 0) -> int:
    """Return `preferred` where nothing listens on it, else any free port of loopback."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            # As servers do: a port that only has connections in TIME_WAIT is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"no free port on {LOOPBACK}: stop other programs on this machine")
