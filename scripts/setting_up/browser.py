"""Find a Chromium for the tests of the pages, or install one."""

from __future__ import annotations

import os
import shutil

from setting_up.shell import CACHE, run, say, stop

# The shell takes half the processor time: it has no window, and draws no interface of its own.
SHELL = "chromium-headless-shell"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_NO_SHELL = CACHE / "no-headless-shell"


def has_browser() -> bool:
    """Whether HEADGATE_CHROMIUM or the PATH names the browser that the tests are to take."""
    given = os.environ.get("HEADGATE_CHROMIUM")
    if given and not os.access(given, os.X_OK):
        stop(f"HEADGATE_CHROMIUM names {given}, which isn't a program")
    if given or shutil.which(SHELL):
        return True
    return any(map(shutil.which, BROWSERS)) and (_apt() is None or _NO_SHELL.exists())


def install_browser() -> None:
    """Install Debian's Chromium where this user may; else say what to do."""
    if (apt := _apt()) is not None:
        say("installing Chromium for the tests of the pages")
        _apt_get(apt, "update")
        if _installed(apt, SHELL):
            return
        CACHE.mkdir(exist_ok=True)
        _NO_SHELL.touch()
        if any(map(shutil.which, BROWSERS)) or _installed(apt, "chromium"):
            return
    stop(
        "the tests of the pages need a Chromium: install one "
        "(Debian: sudo apt install chromium), or set HEADGATE_CHROMIUM to a browser"
    )


def _apt() -> str | None:
    """Return apt-get if this user may install with it."""
    return shutil.which("apt-get") if os.geteuid() == 0 else None


def _installed(apt: str, package: str) -> bool:
    done = _apt_get(apt, "install", "--yes", "--no-install-recommends", package)
    return done and shutil.which(package) is not None


def _apt_get(apt: str, *arguments: str) -> bool:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return run(apt, *arguments, env=env, log=CACHE / "apt.log")
