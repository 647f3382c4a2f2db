"""A scene as a PNG: the SVG drawn by resvg with the pages' font, twice as fine as a screen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files

from headgate.views.exports.svg import svg
from headgate.views.scene.colours import Theme
from headgate.views.scene.scene import Scene

FINE = 2.0
MOST_PIXELS = 60_000_000
LONGEST_SIDE = 16_000
"""Maximum side in pixels that other programs open; larger pictures get a lower resolution."""
FONTS = ("SourceSansPro-Regular.ttf", "SourceSansPro-Semibold.ttf")


def png(
    scene: Scene, *, theme: Theme = Theme.LIGHT, notes: Mapping[str, str] | None = None
) -> bytes:
    """Return the picture. A file has no viewer's setting to follow, so `AUTO` is light."""
    import resvg_py

    chosen = Theme.LIGHT if theme is Theme.AUTO else theme
    folder = files("font_source_sans_pro") / "files"
    drawn = resvg_py.svg_to_bytes(
        svg_string=svg(scene, theme=chosen, notes=notes),
        zoom=_zoom(scene),
        font_files=[str(folder / name) for name in FONTS],
        sans_serif_family="Source Sans Pro",
        font_family="Source Sans Pro",
    )
    return bytes(drawn)


def _zoom(scene: Scene) -> float:
    width, height = scene.width + 80, scene.height + 120
    room = min(LONGEST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
    return min(FINE, room)
