"""The style sheet inside an exported SVG: plain rules with resolved colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.views.scene.colours import PALETTES, Palette, Theme
from headgate.views.scene.scene import Look

FONT = (
    '"Source Sans 3", "Source Sans Pro", "Source Sans", "Helvetica Neue", Arial, "Liberation Sans",'
    " sans-serif"
)
"""The pages' own font where it is installed; the others are as narrow, and labels fit."""


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
