"""Which Java is here: the one that PySpark and Kafka's Java client take."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import SetupError

OLDEST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """`path` is as it is started (`java` where JAVA_HOME is not set), `major` is 17, 21, ..."""

    path: str
    major: int


def read_java() -> Java:
    """Ask JAVA_HOME's Java, else the one on PATH, for its version; SetupError if none answers."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else "java"
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"Java could not be started: {error}") from None
    found = _VERSION.search(done.stderr + done.stdout)
    if found is None:
        raise SetupError(f"{path} -version did not name a version")
    return Java(path, int(found[1]))
