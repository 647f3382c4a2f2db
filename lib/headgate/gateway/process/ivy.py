"""Let the Ivy that PySpark ships resolve an `ivy.xml` into a folder of jars.

Only the standard library is used: the set-up runs this before any package is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

SETTINGS = "HEADGATE_IVY_SETTINGS"
"""Environment variable with the path of an Ivy settings file, for example one with a mirror."""
PARTS = ("spark", "broker", "streams", "delta", "jdbc")
"""The configurations of `ivy.xml`, each a folder of jars."""


def fetch(folder: Path, cache: Path, resolving: Callable[[Path, Path, Path], bool]) -> str | None:
    """Fill `folder` by `resolving(partial, ivy_cache, log)`; return why it failed, else None.

    The folder gets its name only once it is complete. Logs go below `cache`.
    """
    partial, ivy_cache, log = folder.with_suffix(".partial"), cache / "ivy", cache / "ivy.log"
    cache.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        done = resolving(partial, ivy_cache, log)
        if done:
            partial.rename(folder)
        # An interrupted download in Ivy's cache may be the cause of a failure.
        shutil.rmtree(ivy_cache, ignore_errors=True)
        if done:
            return None
    return f"{why_not(log)}; Ivy's output is in {log}"


def resolve(
    partial: Path,
    cache: Path,
    log: Path,
    *,
    java: str | Path,
    ivy: Path,
    ivy_file: Path,
    parts: Sequence[str],
    usual: Path | None = None,
) -> bool:
    """Empty and fill `partial`; return whether each part has files.

    `usual` is the settings file unless SETTINGS names one.
    """
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    settings = os.environ.get(SETTINGS) or usual
    more = ["-settings", str(settings)] if settings else []
    argv = [str(java), "-jar", str(ivy), *more, "-cache", str(cache), "-ivy", str(ivy_file)]
    argv += ["-retrieve", f"{partial}/[conf]/[artifact]-[revision].[ext]"]
    with log.open("wb") as file:
        try:
            done = subprocess.run(argv, stdout=file, stderr=file)
        except FileNotFoundError:
            return False
    return done.returncode == 0 and all(any((partial / c).glob("*.*")) for c in parts)


def why_not(log: Path) -> str:
    """Return Ivy's first complaint."""
    found = re.search(
        r"(UNRESOLVED DEPENDENCY: .*|.*[Ee]xception.*|.*not found.*)", log.read_text()
    )
    return found[1].strip(" \t:") if found else "the download failed"
