"""Read a version file alone, without what reads every other kind of evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headgate.model.version import Version
from headgate.parse.evidence.few_warnings import few
from headgate.parse.evidence.version_file import KIND, check_graph, load

_HEAD = 200


def read_version_file(place: str) -> Version | None:
    """Return the version of a local file that `headgate capture` wrote, None for anything else.

    It is what `read_version` returns of it; a comparison of two such files need not import the
    readers of plans, logs and checkpoints, which take most of its time. Raises ParseError where
    the file is damaged or of a newer release.
    """
    path = Path(place)
    try:
        if not path.is_file():
            return None
        data = path.read_bytes()
    except (OSError, ValueError):
        return None
    if not data.startswith(b"{") or f'"{KIND}"'.encode() not in data[:_HEAD]:
        return None
    version = load(data, source=place)
    check_graph(version.topology, source=place)
    return replace(version, warnings=few(version.warnings))
