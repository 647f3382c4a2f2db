"""The hues of looks and the colours of both themes, as the pages' style sheet has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

_HUE = re.compile(r"--hg-(\w+): light-dark\((#[0-9A-Fa-f]{6}), (#[0-9A-Fa-f]{6})\)")
_STYLE = files("headgate.views.scene.shared_look").joinpath("tokens.css").read_text("utf-8")
LIGHT: Mapping[str, str] = {name: light for name, light, _ in _HUE.findall(_STYLE)}
DARK: Mapping[str, str] = {name: dark for name, _, dark in _HUE.findall(_STYLE)}


class Theme(StrEnum):
    """How a picture is coloured; `auto` follows the user's own setting."""

    LIGHT = "light"
    DARK = "dark"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Palette:
    """Background and text as in `.streamlit/config.toml`, and the hues."""

    background: str
    text: str
    hues: Mapping[str, str]

    def shade(self, percent: float) -> str:
        """Return so much of the text's colour on the background."""
        return mix(self.text, self.background, percent)

    def tint(self, look: str, percent: float) -> str:
        """Return so much of a hue on the background."""
        return mix(self.hues[look], self.background, percent)


PALETTES: Mapping[Theme, Palette] = {
    Theme.LIGHT: Palette("#FFFFFF", "#0F172A", LIGHT),
    Theme.DARK: Palette("#0E1523", "#E5EAF2", DARK),
}


def mix(one: str, other: str, percent: float) -> str:
    """Return `percent` of one colour and the rest of the other, as CSS's `color-mix` in sRGB."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    mixed = (round(a * percent / 100 + b * (1 - percent / 100)) for a, b in pairs)
    return "#" + "".join(f"{c:02X}" for c in mixed)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
