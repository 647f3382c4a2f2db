"""Read from Linux where a process has connections to; on other systems nothing is found."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_OPEN = ("01", "02")
_LISTENS = "0A"


@dataclass(frozen=True, slots=True)
class Connection:
    """One TCP connection, open or being opened."""

    local_port: int
    remote: str
    remote_port: int


def can_watch() -> bool:
    """Whether connections can be seen here."""
    return Path("/proc/self/net/tcp").exists()


def unexpected_connection(pid: int, *, allowed: int, own: int) -> Connection | None:
    """Return a connection that leads elsewhere than to port `allowed` of loopback, if there is one.

    `own` is a port that the process listens on for us; others that it listens on count as its own,
    too. A connection that is opened and closed between two looks is not seen.
    """
    inodes = _sockets(pid)
    rows = [row for row in _rows(pid) if row[0] in inodes]
    listens = {own, *(local for _, state, local, _, _ in rows if state == _LISTENS)}
    for _, state, local, remote, port in rows:
        is_home = ipaddress.ip_address(remote).is_loopback and port in (allowed, *listens)
        if state in _OPEN and local not in listens and not is_home:
            return Connection(local, remote, port)
    return None


def _sockets(pid: int) -> set[str]:
    found = set()
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):
            target = os.readlink(link)  # noqa: PTH115 - a Path would change `socket:[1]`
            if target.startswith("socket:["):
                found.add(target[8:-1])
    return found


def _rows(pid: int) -> Iterator[tuple[str, str, int, str, int]]:
    """Yield inode, state, local port, remote address and port of each of the kernel's rows."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                cells = line.split()
                address, port = _address(cells[2])
                yield cells[9], cells[3], _address(cells[1])[1], address, port


def _address(cell: str) -> tuple[str, int]:
    """Read `0100007F:1F90`: the address in words of 4 bytes, each the other way round."""
    digits, _, port = cell.partition(":")
    raw = bytes.fromhex(digits)
    turned = b"".join(raw[i : i + 4][::-1] for i in range(0, len(raw), 4))
    address = ipaddress.ip_address(turned)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address), int(port, 16)
