"""Which Java runs the embedded broker: the one that PySpark takes too."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from headgate.errors import SetupError


def java() -> str:
    """Return JAVA_HOME's `java`, else the one on PATH; SetupError where there is none."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    if found := shutil.which("java"):
        return found
    raise SetupError("there is no Java here: install Java 17 or newer, or set JAVA_HOME")
