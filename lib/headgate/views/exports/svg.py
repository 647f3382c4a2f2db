"""A scene as an SVG file: the pages' positions, shapes and hues, with nothing to be loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from headgate.text.xml_escape import xml
from headgate.views.layout.arrange import Flow
from headgate.views.layout.label_size import text_width
from headgate.views.scene.colours import PALETTES, Palette, Theme
from headgate.views.scene.compose import PILLS
from headgate.views.scene.scene import LOOK_WORDS, Look, Scene, SceneBox, SceneEdge, SceneNode

FONT = (
    '"Source Sans 3", "Source Sans Pro", "Source Sans", "Helvetica Neue", Arial, "Liberation Sans",'
    " sans-serif"
)
"""The font of the pages, then fallbacks that are as narrow, so that labels fit."""


def style(theme: Theme, looks: Iterable[Look]) -> str:
    """Return the rules; no variables and no nesting, for the sake of programs that draw SVG."""
    wanted = list(looks)
    if theme is not Theme.AUTO:
        return _shapes() + "".join(_colours(PALETTES[theme], wanted))
    light, dark = ("".join(_colours(PALETTES[t], wanted)) for t in (Theme.LIGHT, Theme.DARK))
    return f"{_shapes()}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _shapes() -> str:
    return (
        ".edge{fill:none;stroke-width:1.35}.face{stroke-width:1.25}.area{stroke-width:1}"
        ".icon{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}"
        ".label{font-weight:500}.title{font-weight:600}.detail{font-weight:400}"
        ".note{font-size:12px}.key{font-size:12.5px}.end{text-anchor:end}"
        ".title,.note{paint-order:stroke;stroke-width:5px;stroke-linejoin:round}"
        ".middle{text-anchor:middle}.repartition .face{stroke-dasharray:4 3}"
    )


def _colours(palette: Palette, looks: Iterable[Look]) -> Iterator[str]:
    shade = palette.shade
    yield f".ground{{fill:{shade(2.5)}}}.area{{fill:{shade(6)};stroke:{shade(16)}}}"
    yield f".edge{{stroke:{shade(42)}}}.head{{fill:{shade(42)}}}"
    yield f".title{{stroke:{shade(6)}}}.note{{stroke:{shade(4)}}}"
    yield f".face{{fill:{palette.background};stroke:{shade(16)}}}"
    yield f".label,.title,.key{{fill:{palette.text}}}.note,.detail{{fill:{shade(66)}}}"
    for look in looks:
        yield f".{look} .icon{{stroke:{palette.hues[look]}}}"
        yield f".{look} .chip{{fill:{palette.tint(look, 14)}}}"
    yield f".topic .face{{stroke:{palette.tint(Look.TOPIC, 55)}}}"
    yield f".repartition .face{{stroke:{palette.hues[Look.REPARTITION]}}}"
    yield f".group .face{{fill:{shade(4.5)};stroke:{shade(66)}}}"


EDGE = 28.0
"""Margin around the picture in pixels."""
LEGEND = 44.0
LEAST_WIDTH = 320.0


def svg(scene: Scene, *, theme: Theme = Theme.AUTO, notes: Mapping[str, str] | None = None) -> str:
    """Return the file's text; whole names are in the tooltips, `notes` are live texts by id.

    With `Theme.AUTO` a browser shows it light or dark as its user likes; programs that know
    no media queries show it light.
    """
    said = notes or {}
    looks = [look for look in LOOK_WORDS if any(n.look is look for n in scene.nodes)]
    legend = list(_legend(looks, max(scene.width, LEAST_WIDTH), scene.height + 16))
    rows = 1 + max((row for row, _ in legend), default=0)
    width = max(scene.width, LEAST_WIDTH) + 2 * EDGE
    height = scene.height + 2 * EDGE + (LEGEND + 22 * (rows - 1) if legend else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.1f} {height:.1f}" font-family="{xml(FONT)}" font-size="14"'
        ' role="img">',
        f"<style>{style(theme, looks)}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="8"'
        ' markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="head" d="M.5.8 7.5 4 .5 7.2z"/></marker></defs>',
        f'<rect class="ground" width="{width:.1f}" height="{height:.1f}"/>',
        f'<g transform="translate({EDGE:g},{EDGE:g})">',
        *(_area(b) for b in scene.boxes),
        *(f'<path class="edge" d="{curve(e)}" marker-end="url(#head)"/>' for e in scene.edges),
        *(_header(b, said.get(b.id, "")) for b in scene.boxes),
        *(_node(n, said.get(n.id, "")) for n in scene.nodes),
        *(text for _, text in legend),
        "</g></svg>\n",
    ]
    return "\n".join(parts)


def _area(box: SceneBox) -> str:
    return (
        f'<rect class="area" rx="12" x="{box.x:g}" y="{box.y:g}"'
        f' width="{box.width:g}" height="{box.height:g}"/>'
    )


def _header(box: SceneBox, note: str) -> str:
    y = box.y + 23.5
    said = f'<text class="note end" x="{box.x + box.width - 12:g}" y="{y:g}">{xml(note)}</text>'
    return (
        f'<text class="title" x="{box.x + 14:g}" y="{y:g}">{xml(box.title)}'
        f'<tspan class="detail" dx="6">{xml(box.detail)}</tspan></text>{said if note else ""}'
    )


def curve(edge: SceneEdge) -> str:
    """Return the path through all points, tangent to the flow at each: as the component draws."""
    down = edge.flow is Flow.DOWN
    (x, y), *rest = edge.points
    path = f"M{x:g} {y:g}"
    for x1, y1 in rest:
        along, across = abs(y1 - y if down else x1 - x), abs(x1 - x if down else y1 - y)
        reach = min(70.0, max(min(12.0, across / 2), along / 2))
        path += (
            f"C{x:g} {y + reach:g} {x1:g} {y1 - reach:g} {x1:g} {y1:g}"
            if down
            else f"C{x + reach:g} {y:g} {x1 - reach:g} {y1:g} {x1:g} {y1:g}"
        )
        x, y = x1, y1
    return path


def _node(node: SceneNode, note: str) -> str:
    w, h, pill = node.width, node.height, node.look in PILLS
    x, start = (13, 34) if pill else (10, 35)
    chip = "" if pill else '<rect class="chip" x="6" y="6" width="22" height="22" rx="5"/>'
    count = f'<text class="note end" x="{w - 12:g}" y="{h / 2 + 5:g}">{node.count}</text>'
    said = f'<text class="note middle" x="{w / 2:g}" y="{h + 14:g}">{xml(note)}</text>'
    return (
        f'<g class="{node.look}" transform="translate({node.x - w / 2:g},{node.y - h / 2:g})">'
        f"<title>{xml(node.label)} ({LOOK_WORDS[node.look]})</title>"
        f'<rect class="face" width="{w:g}" height="{h:g}" rx="{h / 2 if pill else 7:g}"/>{chip}'
        f'<path class="icon" transform="translate({x},10)" d="{icon(node.look)}"/>'
        f'<text class="label" x="{start}" y="{h / 2 + 5:g}">{xml(node.text)}</text>'
        f"{count if node.count else ''}{said if note else ''}</g>"
    )


def _legend(looks: list[Look], width: float, y: float) -> Iterator[tuple[int, str]]:
    """The looks that are there, in rows as wide as the picture; each with its row's number."""
    x, row = 0.0, 0
    for look in looks:
        word = LOOK_WORDS[look]
        room = text_width(word) + 34
        if x and x + room > width:
            x, row = 0.0, row + 1
        yield (
            row,
            (
                f'<g class="{look}" transform="translate({x:g},{y + 22 * row:g})">'
                f'<path class="icon" d="{icon(look)}"/>'
                f'<text class="key" x="20" y="11.500">{xml(word)}</text></g>'
            ),
        )
        x += room


def icon(look: Look) -> str:
    """Return the path of a look's icon, on a grid of 14 by 14."""
    return _icons().get(look, _icons()[Look.PROJECTION])


@cache
def _icons() -> dict[str, str]:
    """The component's own icons, so that a file cannot differ from the page."""
    script = files("headgate.views.scene.shared_look").joinpath("icons.js").read_text("utf-8")
    return dict(re.findall(r"(\w+): \"([^\"]+)\"", script))
