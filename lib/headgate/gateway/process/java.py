"""Which Java is here: the one that PySpark and Kafka's Java client take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import SetupError

OLDEST = 17
_TIMEOUT_S = 30
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """`path` is as it is started, `major` is 17, 21, ..."""

    path: str
    major: int


def java() -> str:
    """Return the path of JAVA_HOME's Java, else of the one on PATH; SetupError where none is.

    A JAVA_HOME without a Java is an error, although PATH might have one: PySpark takes no other.
    """
    if home := os.environ.get("JAVA_HOME"):
        path = Path(home) / "bin" / "java"
        if not path.exists():
            raise SetupError(f"JAVA_HOME ({home}) has no bin/java: correct or unset JAVA_HOME")
        return str(path)
    if found := shutil.which("java"):
        return found
    raise SetupError("Java not found: install Java 17 or newer, or set JAVA_HOME")


def read_java() -> Java:
    """Ask the Java that is taken for its version; SetupError if none answers."""
    path = java()
    try:
        done = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"`{path} -version` did not end within {_TIMEOUT_S} s") from None
    except OSError as error:
        raise SetupError(f"Java could not be started: {path}: {error.strerror}") from None
    found = _VERSION.search(done.stderr + done.stdout)
    if found is None:
        raise SetupError(f"`{path} -version` printed no version number")
    return Java(path, int(found[1]))
