"""What the stages share: where things lie, commands, files, and that only one set-up works."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
VENV = ROOT / ".venv"
BIN = VENV / "bin"


def say(text: str) -> None:
    """Print on stderr what happens."""
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> None:
    """End the set-up with one sentence."""
    sys.exit(f"set-up: {text}")


@contextmanager
def only_one() -> Iterator[None]:
    """Wait until no other set-up works in this clone; the lock goes with the process."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up works in this folder; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(*command: object, env: Mapping[str, str] | None = None, log: Path | None = None) -> bool:
    """Run a command, its output to stderr or to `log`; return whether it succeeded."""
    argv = [str(word) for word in command]
    try:
        if log is None:
            return subprocess.run(argv, stdout=sys.stderr, env=env, cwd=ROOT).returncode == 0
        with log.open("wb") as file:
            done = subprocess.run(argv, stdout=file, stderr=file, env=env, cwd=ROOT)
        return done.returncode == 0
    except FileNotFoundError:
        return False


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, [] where there is none."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.rename(path)


def discard(folder: Path) -> None:
    """Remove a folder so that, cut off, no half of it stays under its name."""
    away = CACHE / "discarded"
    shutil.rmtree(away, ignore_errors=True)
    folder.rename(away)
    shutil.rmtree(away, ignore_errors=True)
