"""Whether the process that a watch reported still lives, as far as this machine knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def is_gone(driver: Mapping[str, Any]) -> bool | None:
    """Return True if the process has ended, False if it lives, None if it is elsewhere.

    Only the same kernel (boot id) and the same pid namespace give an answer; a pid that started at
    another time is another process. `driver` is what `headgate.watch` reported about itself.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None
    pid, begun = driver.get("pid"), driver.get("begun")
    if (driver.get("boot"), driver.get("space")) != (boot, space) or not isinstance(pid, int):
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return True
    # A process that has ended and is not reaped yet is a zombie.
    return fields[0] in "ZX" or int(fields[19]) != begun
