"""Fill .venv with the pinned Python packages, by uv or by pip."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setting_up.shell import BIN, CACHE, ROOT, VENV, discard, read_lines, run, say, stop, write

REQUIREMENTS = ROOT / "requirements-dev.txt"
# How pip's settings are called in uv's world.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}


def packages_stamp() -> Path:
    """Return the file that says what .venv was completed from."""
    return VENV / ".headgate-complete"


def started_mark() -> Path:
    """Return the file that says that this set-up is filling .venv."""
    return VENV / ".headgate-begun"


def packages_key() -> list[str]:
    """Return the interpreter and path that .venv was made with, and the hash of its pins."""
    digest = hashlib.sha256()
    for name in ("requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    place = f"{ROOT} {sysconfig.get_platform()} {sys.version.split()[0]}"
    return [place, digest.hexdigest()]


def has_packages() -> bool:
    """Whether .venv is complete for these requirements."""
    return read_lines(packages_stamp()) == packages_key() and os.access(BIN / "headgate", os.X_OK)


def install_packages() -> None:
    """Make .venv complete; one that was cut off or was made by another Python is recreated."""
    was, key = read_lines(packages_stamp()), packages_key()
    if started_mark().exists() or (was and was[0] != key[0]):
        discard(VENV)
    VENV.mkdir(exist_ok=True)
    started_mark().touch()
    packages_stamp().unlink(missing_ok=True)
    make_venv()
    say("installing the Python packages into .venv (the first time takes a minute)")
    if not (install_with_uv() or install_with_pip()):
        stop("the Python packages could not be installed, for the reason above; run it again")
    compile_packages()
    write(packages_stamp(), "\n".join(key) + "\n")
    started_mark().unlink()


def compile_packages() -> None:
    """Write all bytecode at once: if Python may write none, each process would compile it."""
    packages = VENV.glob("lib/*/site-packages")
    run(
        BIN / "python",
        *("-m", "compileall", "-q", "-j", "0"),
        ROOT / "lib",
        *packages,
        log=CACHE / "pyc.log",
    )


def make_venv() -> None:
    """Create the interpreter of .venv, by uv where it is on the PATH, else by venv."""
    if (BIN / "python").exists():
        return
    say("making .venv")
    if uv := shutil.which("uv"):
        marks = started_mark()
        if run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, VENV):
            marks.touch()
            return
    if not run(sys.executable, "-m", "venv", VENV):
        version = ".".join(map(str, sys.version_info[:2]))
        stop(
            "this Python can make no virtual environment: install its venv module "
            f"(Debian, Ubuntu: sudo apt install python{version}-venv)"
        )


def install_with_uv() -> bool:
    """Install with uv: the one on the PATH, else the pinned one, which pip brings."""
    uv = shutil.which("uv")
    if uv is None:
        pin = re.search(r"^uv==\S+", REQUIREMENTS.read_text(), re.M)
        if not (pin and pip("install", "--quiet", pin[0])):
            return False
        uv = str(BIN / "uv")
    env = {**uv_settings(), **os.environ}
    return run(
        uv, "pip", "install", "--quiet", "--python", BIN / "python", "-r", REQUIREMENTS, env=env
    )


def install_with_pip() -> bool:
    """Install with pip, which takes longer."""
    say("uv did not do; installing with pip")
    return pip("install", "--quiet", "-r", str(REQUIREMENTS))


def pip(*arguments: str) -> bool:
    """Run the pip of .venv."""
    python = BIN / "python"
    if not run(python, "-c", "import pip", log=CACHE / "pip.log"):
        run(python, "-m", "ensurepip", "--upgrade", log=CACHE / "pip.log")
    return run(python, "-m", "pip", "--disable-pip-version-check", *arguments)


def uv_settings() -> dict[str, str]:
    """Return pip's settings (an own index, a certificate) in uv's words; uv reads none of them."""
    argv = [str(BIN / "python"), "-m", "pip", "config", "list"]
    done = subprocess.run(argv, capture_output=True, text=True)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        if name := UV_NAMES.get(key.rpartition(".")[2].replace("_", "-")):
            found[name] = " ".join(shlex.split(value))
    return found
