"""Which Java is here: Spark, Kafka and Ivy need one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from setting_up.shell import stop


def check_java() -> None:
    """Stop unless Java 17 or newer runs; JAVA_HOME goes before PATH, as it does for Spark."""
    java = find_java()
    install = "install Java 17 or newer (Debian, Ubuntu: sudo apt install openjdk-17-jre-headless)"
    if java is None:
        stop(f"there is no Java on the PATH: {install}, or set JAVA_HOME")
    major = java_major(java or "")
    if major < 17:
        found = f"is version {major}" if major else "does not run"
        stop(f"{java} {found}: {install}, or set JAVA_HOME to one")


def find_java() -> str | None:
    """Return JAVA_HOME's Java, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return (shutil.which("java", path=f"{home}/bin") if home else None) or shutil.which("java")


def java_major(java: str) -> int:
    """Return the major version, 8 for `1.8.0`, 0 where it does not run."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True)
    except OSError:
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(match[1]) if match and done.returncode == 0 else 0
