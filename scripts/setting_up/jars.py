"""Fetch jars by the Ivy that PySpark ships."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from headgate.gateway.process.ivy import PARTS, fetch
from headgate.gateway.process.ivy import resolve as ivy_resolve
from setting_up.java import find_java
from setting_up.shell import CACHE, ROOT, VENV, say, stop

IVY_FILE = ROOT / "lib" / "headgate" / "gateway" / "process" / "ivy.xml"


def jars_folder() -> Path:
    """Return where the jars of this `ivy.xml` belong, as `gateway/process/jars.py` finds them."""
    return CACHE / "jars" / hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]


def has_jars() -> bool:
    """Whether they are there; the folder gets its name only once it is complete."""
    return "HEADGATE_JARS" in os.environ or jars_folder().is_dir()


def fetch_jars() -> None:
    """Resolve `ivy.xml` into a folder of another name, and rename that one."""
    say("fetching the jars of Spark's connectors and of the broker (170 MB)")
    if reason := fetch(jars_folder(), CACHE, resolve):
        stop(f"the jars could not be fetched: {reason}")


def resolve(
    partial: Path,
    cache: Path,
    log: Path,
    ivy_file: Path = IVY_FILE,
    parts: tuple[str, ...] = PARTS,
    usual: Path | None = None,
) -> bool:
    """Let the Ivy of PySpark fill `partial`; `usual` is the settings file unless one is named."""
    ivy = next(VENV.glob("lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    return ivy_resolve(
        partial, cache, log,
        java=find_java() or "java", ivy=ivy, ivy_file=ivy_file, parts=parts, usual=usual,
    )  # fmt: skip
