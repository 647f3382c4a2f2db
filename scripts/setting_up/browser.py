"""Find a Chromium for the tests of the pages, or install one."""

from __future__ import annotations

import os
import shutil

from setting_up.shell import CACHE, run, say, stop

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def has_browser() -> bool:
    """Whether HEADGATE_CHROMIUM or the PATH names a Chromium."""
    given = os.environ.get("HEADGATE_CHROMIUM")
    if given and not os.access(given, os.X_OK):
        stop(f"HEADGATE_CHROMIUM names {given}, which is no program")
    return bool(given) or any(map(shutil.which, BROWSERS))


def install_browser() -> None:
    """Install Debian's Chromium where this user may; else say what to do."""
    apt, env = shutil.which("apt-get"), {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if apt and os.geteuid() == 0:
        say("installing Chromium for the tests of the pages")
        run(apt, "update", env=env, log=CACHE / "apt.log")
        more = ("install", "--yes", "--no-install-recommends", "chromium")
        if run(apt, *more, env=env, log=CACHE / "apt.log") and has_browser():
            return
    stop(
        "the tests of the pages need a Chromium: install one "
        "(Debian: sudo apt install chromium), or set HEADGATE_CHROMIUM to a browser"
    )
