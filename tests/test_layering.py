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
    "__init__": 10,
}
ONLY_IN = {
    "streamlit": {"ui", "pages", "app"},
    "confluent_kafka": {"gateway", "jobs", "driver", "local"},
    "pyspark": {"gateway", "jobs", "driver", "local"},
    "dbos": {"worker"},
    "click": {"cli"},
}
MODULES = [
    *sorted(PKG.rglob("*.py")),
    *sorted((ROOT / "pages").glob("*.py")),
    *sorted(ROOT.glob("app.py")),
]


def layer(path: Path) -> str:
    if path.is_relative_to(PKG):
        return path.relative_to(PKG).with_suffix("").parts[0]
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{a.name}" for a in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    mine = layer(path)
    for name in imported(path):
        top, *rest = name.split(".")
        if top == "headgate" and rest and rest[0] in RANK and rest[0] != mine:
            assert RANK[rest[0]] < RANK.get(mine, 0), name
        assert mine in ONLY_IN.get(top, {mine}), name


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_says_what_it_is_for_and_stays_small(path):
    text = path.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 450


def test_every_package_has_a_rank():
    packages = {p.name for p in PKG.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert packages <= RANK.keys()
