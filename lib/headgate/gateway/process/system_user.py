"""The account that runs this process."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from headgate.model.person import unverified


def account() -> str:
    """Return the account of the effective uid; variables such as LOGNAME don't count."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def system_user() -> str:
    """Return the account with uid and host, as the audit trail keeps it."""
    return unverified(account(), f"uid {os.geteuid()} on {os.uname().nodename}")


def home_folder() -> Path:
    """Return the user's home folder; an empty HOME, which Python takes for /, names none."""
    return Path.home() if os.environ.get("HOME", "x") else Path(pwd.getpwuid(os.getuid()).pw_dir)
