"""A scene as the JSON that the component reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from headgate.views.scene.scene import LOOK_WORDS, MARK_WORDS, STATUS_WORDS, Scene

WORDS: dict[str, dict[str, Any]] = {
    "looks": {str(look): word for look, word in LOOK_WORDS.items()},
    "statuses": {str(status): list(words) for status, words in STATUS_WORDS.items()},
    "marks": {str(mark): list(words) for mark, words in MARK_WORDS.items()},
}


def payload(scene: Scene) -> dict[str, Any]:
    """Return the scene as plain lists and dictionaries; field names stay."""
    return {
        "nodes": [asdict(n) for n in scene.nodes],
        "edges": [asdict(e) for e in scene.edges],
        "boxes": [asdict(b) for b in scene.boxes],
        "width": scene.width,
        "height": scene.height,
        "is_diff": scene.is_diff,
    }
