"""Fetch jars by the Ivy that PySpark ships."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from setting_up.java import find_java
from setting_up.shell import CACHE, ROOT, VENV, run, say, stop

IVY_FILE = ROOT / "lib" / "headgate" / "gateway" / "process" / "ivy.xml"


def jars_folder() -> Path:
    """Return where the jars of this `ivy.xml` belong, as `gateway/process/jars.py` finds them."""
    return CACHE / "jars" / hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]


def has_jars() -> bool:
    """Whether they are there; the folder gets its name only once it is complete."""
    return "HEADGATE_JARS" in os.environ or jars_folder().is_dir()


def fetch_jars() -> None:
    """Resolve `ivy.xml` into a folder of another name, and rename that one."""
    say("fetching the jars of Spark's Kafka connector and of the broker (150 MB)")
    partial = jars_folder().with_suffix(".partial")
    cache, log = CACHE / "ivy", CACHE / "ivy.log"
    if not resolve(partial, cache, log):
        # What a cut-off download left in Ivy's cache may be what is wrong.
        shutil.rmtree(cache, ignore_errors=True)
        if not resolve(partial, cache, log):
            stop(f"the jars could not be fetched: {why_not(log)}; the whole story is in {log}")
    partial.rename(jars_folder())
    shutil.rmtree(cache, ignore_errors=True)


def resolve(
    partial: Path,
    cache: Path,
    log: Path,
    ivy_file: Path = IVY_FILE,
    parts: tuple[str, ...] = ("spark", "broker", "streams"),
    usual: Path | None = None,
) -> bool:
    """Let Ivy fill `partial`; HEADGATE_IVY_SETTINGS may name a settings file with a mirror.

    `usual` is the settings file where that names none.
    """
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    ivy = next(VENV.glob("lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    settings = os.environ.get("HEADGATE_IVY_SETTINGS") or usual
    more = ["-settings", settings] if settings else []
    into = f"{partial}/[conf]/[artifact]-[revision].[ext]"
    done = run(
        find_java(),
        "-jar",
        ivy,
        *more,
        "-cache",
        cache,
        "-ivy",
        ivy_file,
        "-retrieve",
        into,
        log=log,
    )
    return done and all(any((partial / c).glob("*.*")) for c in parts)


def why_not(log: Path) -> str:
    """Return Ivy's first complaint."""
    found = re.search(
        r"(UNRESOLVED DEPENDENCY: .*|.*[Ee]xception.*|.*not found.*)", log.read_text()
    )
    return found[1].strip(" \t:") if found else "Ivy gave no reason"
