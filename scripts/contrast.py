"""Measure the contrast of the console's colours, and how alike statuses look to the colour-blind.

    python scripts/contrast.py

Contrast is WCAG 2.2's ratio of relative luminances: text needs 4.5, marks (icons, outlines,
lines that carry meaning) 3. Colour-vision deficiencies are simulated by Viénot, Brettel and
Mollon (1999) for protanopia and deuteranopia, and Brettel's (1997) tritanopia in its one-plane
form; differences are CIE76 in L*a*b*: above some 10 two flat areas side by side look different.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TOKENS = ROOT / "lib" / "headgate" / "views" / "scene" / "shared_look" / "tokens.css"
CONFIG = ROOT / ".streamlit" / "config.toml"
TEXT, MARK = 4.5, 3.0
STATUSES = ("added", "removed", "changed", "unknown", "refuses", "silently_wrong")
Rgb = tuple[float, float, float]


class Pair(NamedTuple):
    """Two colours, one drawn on the other, and the least ratio that they need."""

    theme: str
    what: str
    ratio: float
    least: float


def rgb(text: str) -> Rgb:
    """Return a colour's channels, 0 to 1."""
    r, g, b = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return r, g, b


def mix(one: Rgb, share: float, other: Rgb) -> Rgb:
    """Return CSS's color-mix in srgb: `share` of the one, the rest of the other."""
    r, g, b = (a * share + c * (1 - share) for a, c in zip(one, other, strict=True))
    return r, g, b


def linear(colour: Rgb) -> Rgb:
    """Return the channels in proportion to light."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return r, g, b


def ratio(one: Rgb, other: Rgb) -> float:
    """Return the contrast ratio, 1 to 21."""
    light = sorted(
        (0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other))),
        reverse=True,
    )
    return (light[0] + 0.05) / (light[1] + 0.05)


def themes() -> Iterator[tuple[str, dict[str, Rgb]]]:
    """Yield each theme with its colours by name: those of the page and the tokens."""
    page = tomllib.loads(CONFIG.read_text())["theme"]
    tokens = re.findall(r"--hg-([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text())
    for place, theme in enumerate(("light", "dark")):
        colours = {name: rgb(pair[place]) for name, *pair in tokens}
        colours |= {
            name: rgb(page[theme][f"{key}Color"])
            for name, key in (
                ("background", "background"), ("second", "secondaryBackground"),
                ("text", "text"), ("primary", "primary"),
            )
        }  # fmt: skip
        yield theme, colours


def pairs() -> Iterator[Pair]:
    """Yield every pair of colours that the pages set, as their style sheets mix them."""
    for theme, c in themes():
        back, text = c["background"], c["text"]
        ground, area = (mix(text, share, back) for share in (0.025, 0.045))
        faces = {"page": back, "canvas": ground, "area": area, "input": c["second"]}
        for name, face in faces.items():
            yield Pair(theme, f"text on {name}", ratio(text, face), TEXT)
            yield Pair(theme, f"muted text on {name}", ratio(mix(text, 0.66, back), face), TEXT)
            yield Pair(theme, f"quiet text on {name}", ratio(mix(text, 0.72, face), face), TEXT)
        yield Pair(theme, "placeholder", ratio(mix(text, 0.68, back), c["second"]), TEXT)
        for opacity, what in ((1.0, "edge"), (QUIET_EDGE, "edge that did not change")):
            edge = mix(mix(text, EDGE, back), opacity, ground)
            yield Pair(theme, what, ratio(edge, ground), MARK)
        quiet = mix(text, QUIET_NODE, ground)
        yield Pair(theme, "label of a node that did not change", ratio(quiet, ground), TEXT)
        yield Pair(theme, "selection", ratio(c["primary"], ground), MARK)
        yield Pair(theme, "primary text", ratio(c["primary"], back), TEXT)
        yield from _hues(theme, c)


def _hues(theme: str, c: dict[str, Rgb]) -> Iterator[Pair]:
    back, text = c["background"], c["text"]
    looks = [n for n in c if n not in (*STATUSES, *PAGE)]
    for name in looks:
        chip = mix(c[name], 0.14, back)
        yield Pair(theme, f"icon {name}", ratio(c[name], chip), MARK)
    for name in STATUSES:
        fill = mix(c[name], 0.24 if name == "silently_wrong" else 0.16, back)
        yield Pair(theme, f"outline {name}", ratio(c[name], back), MARK)
        yield Pair(theme, f"glyph on {name}", ratio(c["on-status"], c[name]), TEXT)
        yield Pair(theme, f"label on {name}", ratio(text, fill), TEXT)
        yield Pair(theme, f"word in {name}", ratio(c[name], back), TEXT)


PAGE = ("background", "second", "text", "primary", "on-status")
_CSS = (ROOT / "lib" / "headgate" / "ui" / "shared" / "graph" / "graph.css").read_text()


def _of_css(pattern: str) -> float:
    """Return a number out of the graph's style sheet, so that both can't drift apart."""
    found = re.search(pattern, _CSS)
    assert found, pattern
    return float(found[1])


EDGE = _of_css(r"--edge: color-mix\(in srgb, var\(--text\) (\d+)%") / 100
QUIET_EDGE = _of_css(r"\.diff \.edge\.quiet \{ opacity: ([\d.]+);")
QUIET_NODE = _of_css(r"\.diff \.node\.quiet[^{]*\{ opacity: ([\d.]+);")

DEFICIENCIES: dict[str, tuple[Rgb, Rgb, Rgb]] = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.112, 0.888, 0), (0.112, 0.888, 0), (0.004, -0.004, 1)),
    "deuteranopia": ((0.293, 0.707, 0), (0.293, 0.707, 0), (-0.021, 0.021, 1)),
    "tritanopia": ((1, 0.145, -0.145), (0, 0.859, 0.141), (0, 0.859, 0.141)),
}
"""Matrices over linear light."""


def lab(colour: Rgb) -> Rgb:
    """Return L*a*b* (D65) of linear light."""
    r, g, b = (min(1.0, max(0.0, c)) for c in colour)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def closest() -> Iterator[tuple[str, str, float, str, str]]:
    """Yield, by theme and deficiency, the two statuses that look most alike, and how far apart."""
    for theme, colours in themes():
        for name, matrix in DEFICIENCIES.items():
            seen = {s: lab(_times(matrix, linear(colours[s]))) for s in STATUSES}
            rows = [(x, y, _apart(seen[x], seen[y])) for x, y in combinations(STATUSES, 2)]
            one, other, apart = min(rows, key=lambda row: row[2])
            yield theme, name, apart, one, other


def _apart(one: Rgb, other: Rgb) -> float:
    return math.dist(one, other)


def _times(matrix: tuple[Rgb, Rgb, Rgb], light: Rgb) -> Rgb:
    r, g, b = (sum(m * c for m, c in zip(row, light, strict=True)) for row in matrix)
    return r, g, b


def main() -> None:
    """Print what falls short, then everything, then the closest statuses."""
    for pair in sorted(pairs(), key=lambda p: p.ratio / p.least):
        verdict = "" if pair.ratio >= pair.least else "  TOO LOW"
        print(f"{pair.theme:5} {pair.what:42} {pair.ratio:5.2f} of {pair.least}{verdict}")
    print()
    for theme, name, apart, one, other in closest():
        print(f"{theme:5} {name:13} closest statuses: {one} and {other}, {apart:.1f} apart")


if __name__ == "__main__":
    main()
