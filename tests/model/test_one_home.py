"""Each vocabulary has one table: no second list of engines' words or of kinds of evidence."""

import ast
from functools import cache
from pathlib import Path

import pytest

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Engine

ROOT = Path(__file__).parents[2]
PKG = ROOT / "lib" / "headgate"
KINDS = {kind.value for kind in EvidenceKind}
WORDS = {words for engine in Engine for words in (engine.full_name, engine.words)} - {"Spark"}
# Words that aren't an engine's: who wrote a record's headers, and how a title is spelled.
OTHER_WORDS = {"model/dead_letters.py", "rules/core/rule.py"}
FILES = [
    *sorted(PKG.rglob("*.py")),
    *sorted((ROOT / "pages").glob("*.py")),
    *sorted((ROOT / "scripts").glob("*.py")),
]


@cache
def nodes(path):
    return list(ast.walk(ast.parse(path.read_text())))


def strings(node):
    """Return the strings of a tuple, list, set or dict's keys; none where others are among them."""
    if isinstance(node, ast.Dict):
        parts = node.keys
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = node.elts
    else:
        return []
    found = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
    return found if len(found) == len(parts) else []


def where(path, node):
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_no_second_list_of_kinds_of_evidence():
    found = [
        where(path, node)
        for path in FILES
        for node in nodes(path)
        if len(words := strings(node)) > 1 and set(words) <= KINDS
    ]
    assert found == []


def test_no_second_list_of_engines():
    names = {engine.value for engine in Engine}
    found = [
        where(path, node)
        for path in FILES
        if path.is_relative_to(PKG)
        for node in nodes(path)
        if len(words := set(strings(node)) & names) > 1 and words
    ]
    assert found == []


def test_words_of_an_engine_stand_in_its_row():
    found = [
        where(path, node)
        for path in FILES
        if path.is_relative_to(PKG)
        and path.relative_to(PKG).as_posix() not in {"model/version.py", *OTHER_WORDS}
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in WORDS
    ]
    assert found == []


@pytest.mark.parametrize("engine", Engine)
def test_an_engine_has_words(engine):
    assert Engine(engine.value) is engine and engine.words and engine.full_name
