"""Make a Python environment with the packages of a requirements file, once for each content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from headgate.errors import SetupError
from headgate.gateway.process.clean_environment import clean_environment
from headgate.gateway.process.system_user import home_folder

_TIMEOUT_S = 900.0
_NESTED = re.compile(r"^\s*(?:-[rc]\s*|--(?:requirement|constraint)[\s=]+)(\S+)")
_FALLBACK = "headgate-fallback.pth"


def environments_folder() -> Path:
    """Return the user's cache folder for environments (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(base) if Path(base).is_absolute() else home_folder() / ".cache"
    return cache / "headgate" / "environments"


def python_of(requirements: Path, folder: Path | None = None) -> tuple[Path, bool]:
    """Return an interpreter with these packages, and whether it was made just now.

    A package that the file doesn't name comes from our environment. pip runs without credentials
    from the environment. SetupError has pip's own last error.

    Invariant: a folder gets its name only once it is complete.
    """
    root = folder or environments_folder()
    target = root / _key(requirements)
    python = target / "bin" / "python"
    if python.exists():
        return python, False
    try:
        root.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    except OSError as error:
        raise SetupError(
            f"no Python environment can be created in {root}: {error.strerror}. Check disk "
            "space and permissions"
        ) from error
    try:
        _make(draft, requirements)
        # Another process may have made the same one meanwhile.
        with suppress(OSError):
            draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return python, True


def _key(requirements: Path) -> str:
    digest = hashlib.sha256(f"{sys.version}\0{sys.prefix}".encode())
    for path in filter(Path.is_file, included_files(requirements)):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def included_files(requirements: Path) -> list[Path]:
    """Return the file and all files that it includes with `-r` or `-c`; they may not exist."""
    found: list[Path] = []
    pending = [requirements]
    while pending:
        path = pending.pop()
        if path in found:
            continue
        found.append(path)
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            nested = [match[1] for line in lines if (match := _NESTED.match(line))]
            pending += [Path(os.path.normpath(path.parent / n)) for n in reversed(nested)]
    return found


def _make(draft: Path, requirements: Path) -> None:
    _run([sys.executable, "-m", "venv", str(draft)], "python -m venv", requirements.parent)
    python = str(draft / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(
        [*install, "--no-input", "-r", str(requirements)],
        f"pip install -r {requirements.name}",
        requirements.parent,
    )
    packages = next(draft.glob("lib/python*/site-packages"))
    (packages / _FALLBACK).write_text("".join(f"{f}\n" for f in _our_packages()), encoding="utf-8")


def _our_packages() -> list[str]:
    """Return the folders of our own packages; of a clone that is the one of this package."""
    paths = sysconfig.get_paths()
    own = str(Path(__file__).resolve().parents[3])
    return list(dict.fromkeys((paths["purelib"], paths["platlib"], own)))


def _run(command: Sequence[str], what: str, folder: Path) -> None:
    env, _ = clean_environment(os.environ)
    env.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"{what} did not end within {_TIMEOUT_S:g} s. Check the network and this machine's "
            "load, then try again"
        ) from error
    if done.returncode:
        told = (done.stderr or done.stdout).decode(errors="replace")
        lines = [line for line in told.splitlines() if line.startswith("ERROR")]
        raise SetupError(
            f"{what} failed: {(lines or told.split(chr(10)))[0][:300]}. Check the requirements "
            "file and the network"
        )
