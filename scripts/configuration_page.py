"""Write the tables of `docs/reference/configuration.md`: `configuration_page.py [--check]`.

The keys of `headgate.toml` and what they mean are in `headgate.parse.config.keys`, beside their
decoder. The text around the tables is written by hand. Each table is between two comments, the
first of which has its heading. `--check` writes nothing and fails if the page is not current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from headgate.parse.config.keys import KEYS, Key

FILE = Path(__file__).parents[1] / "docs" / "reference" / "configuration.md"
_TABLE = re.compile(r"(<!-- keys of (?P<heading>\S+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def page(text: str) -> str:
    """Return the page with current tables; ValueError if a table is missing or unknown."""
    shown = [found["heading"] for found in _TABLE.finditer(text)]
    if sorted(shown) != sorted(KEYS):
        differing = sorted({*shown} ^ {*KEYS}) or "a table is there twice"
        raise ValueError(f"the page and headgate.parse.config.keys differ in {differing}")
    return _TABLE.sub(lambda t: f"{t[1]}\n{table(KEYS[t['heading']])}\n{t[3]}", text)


def table(keys: tuple[Key, ...]) -> str:
    """Return a table in Markdown, without the columns that no key needs."""
    columns = {
        "key": [f"`{key.name}`" for key in keys],
        "type": [key.kind for key in keys],
        "required": [key.needed for key in keys],
        "default": [f"`{key.default}`" if key.default else "" for key in keys],
        "meaning": [key.meaning for key in keys],
    }
    used = {name: cells for name, cells in columns.items() if any(cells)}
    rows = [[*used], ["---"] * len(used), *zip(*used.values(), strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: list[str]) -> int:
    """Write the page, or say that it is not current."""
    old = FILE.read_text(encoding="utf-8")
    new = page(old)
    if arguments == ["--check"]:
        if new != old:
            print(f"{FILE.name} isn't current: run `make docs`")
        return int(new != old)
    FILE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
