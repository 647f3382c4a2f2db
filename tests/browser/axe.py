"""Run axe-core in a page: every rule of WCAG 2.2 A and AA, the best practices, and label names."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# axe-core leaves it out by default, as an experiment: voice control needs it.
MORE = {"label-content-name-mismatch": {"enabled": True}}


@cache
def source() -> str:
    """Return axe-core's own text, as the package of the tests has it."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def violations(page: Any) -> list[tuple[str, str, str]]:
    """Return rule, selector and HTML of each element that breaks a rule; shadow roots count."""
    page.evaluate(source())
    found = page.evaluate(
        """([tags, rules]) => axe.run(document, {
          runOnly: { type: 'tag', values: tags }, rules, resultTypes: ['violations'],
        }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) =>
          [v.id, n.target.flat(9).join(' >>> '), n.html.slice(0, 300)])))""",
        [TAGS, MORE],
    )
    return [(rule, location, html) for rule, location, html in found]
