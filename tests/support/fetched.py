"""Where the set-up put what tests ask: servers."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def fetched(which: str) -> Path:
    """Return the folder of the `stores` or the `registry`; a test needs it."""
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))
    folder: Path = getattr(import_module("setting_up.servers"), f"{which}_folder")()
    if not folder.is_dir():
        pytest.fail(f"{folder} not found: run `sh scripts/setup.sh stores`", pytrace=False)
    return folder
