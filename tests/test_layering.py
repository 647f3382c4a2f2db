"""The layers of ARCHITECTURE.md, checked: a module imports only what lies below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PKG = ROOT / "lib" / "headgate"
RANK = {
    "errors": 0,
    "model": 1,
    **dict.fromkeys(("parse", "compat", "landscape", "estimate", "schemas"), 2),
    **dict.fromkeys(("plan", "govern", "readiness"), 3),
    "store": 4,
    **dict.fromkeys(("gateway", "jobs", "views"), 5),
    **dict.fromkeys(("usecases", "driver"), 6),
    **dict.fromkeys(("worker", "ui", "local"), 7),
    "cli": 8,
    "pages": 9,
    "app": 9,
    "console": 9,
    "__init__": 10,
}
ONLY_IN = {
    "streamlit": {"ui", "pages", "app", "console"},
    "confluent_kafka": {"gateway", "jobs", "driver", "local"},
    "pyspark": {"gateway", "jobs", "driver", "local"},
    "dbos": {"worker"},
    "click": {"cli"},
}
MODULES = [
    *sorted(PKG.rglob("*.py")),
    *sorted((ROOT / "pages").glob("*.py")),
    *(ROOT / name for name in ("app.py", "console.py")),
]
FOLDERS = sorted({p.parent for p in MODULES})


def layer(path: Path) -> str:
    if path.is_relative_to(PKG):
        return path.relative_to(PKG).with_suffix("").parts[0]
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{a.name}" for a in node.names}
    return names


def is_below(name: str, mine: str) -> bool:
    top, *rest = name.split(".")
    if top == "headgate" and rest and rest[0] in RANK and rest[0] != mine:
        return RANK[rest[0]] < RANK.get(mine, 0)
    return mine in ONLY_IN.get(top, {mine})


# A test for each module would take longer than its reading.
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down_and_modules_say_what_they_are_for_and_stay_small(folder):
    for path in (p for p in MODULES if p.parent == folder):
        text = path.read_text()
        tree = ast.parse(text)
        wrong = [name for name in imported(tree) if not is_below(name, layer(path))]
        assert wrong == [], path
        assert not text.strip() or ast.get_docstring(tree), path
        assert len(text.splitlines()) <= 450, path


def test_every_package_has_a_rank():
    packages = {p.name for p in PKG.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert packages <= RANK.keys()
