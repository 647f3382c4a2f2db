"""Ports of servers that can't be asked for any free one, each of one test process alone."""

from __future__ import annotations

import random
import socket
import sys
from pathlib import Path

from headgate.gateway.process import free_ports

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_MOST = 10_000
# Closed when the process ends.
_HELD: list[socket.socket] = []


def free_port() -> int:
    """Return a port of loopback that nothing listens on, and that no other test process gets.

    A port that the kernel picks may be a connection's, or another server's, before the server that
    it is for has started. These ports are below those that the kernel gives to connections, and a
    Unix socket with the port's name, which ends with this process, holds each of them.
    """
    if sys.platform != "linux":
        return free_ports.free_port()
    low = int(_RANGE.read_text().split()[0])
    ports = range(max(1024, low - _MOST), low)
    for port in random.SystemRandom().sample(ports, len(ports)):
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0headgate-tests-{port}")
            with socket.socket() as probe:
                probe.bind((free_ports.LOOPBACK, port))
        except OSError:
            held.close()
            continue
        _HELD.append(held)
        return port
    raise OSError(f"no free port on {free_ports.LOOPBACK}: stop other programs on this machine")
