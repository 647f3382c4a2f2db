"""A remedy that destroys data states the condition under which it is right."""

import ast
import re
from pathlib import Path

import pytest

import headgate

HOME = Path(headgate.__file__).parent
FILES = sorted((HOME / "rules").rglob("*.py"))
DESTROYS = re.compile(
    r"\bdelete (?!rows)(the |offsets|commits|topics|a |\{|`|it\b)|"
    r"\bfailOnDataLoss=false\b.*(once|for one start)|(once|with) .*failOnDataLoss=false"
    r"|deleteIfExists|\breset the application\b|\bpurge it\b",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\b(if|only if|unless)\b", re.IGNORECASE)
SAYS_ONLY = {"because", "question", "what", "why", "proven"}


def text_of(node):
    """Return the text of a literal that may be formatted or added up, None for all else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(v) or "{}" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (text_of(node.left) or "{}") + (text_of(node.right) or "{}")
    return None


def texts(tree):
    """Yield what code says: no docstrings, and no sentences that only state what happened."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.keyword) and tree.arg in SAYS_ONLY:
        return
    found = text_of(tree) if isinstance(tree, ast.expr) else None
    if found is not None:
        yield found
        return
    for child in ast.iter_child_nodes(tree):
        yield from texts(child)


def unconditional(source):
    """Return the texts that advise to destroy something and name no condition."""
    return [t for t in texts(ast.parse(source)) if DESTROYS.search(t) and not CONDITION.search(t)]


@pytest.mark.slow
def test_a_remedy_that_destroys_data_states_its_condition():
    found = {path: unconditional(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "remedy",
    [
        "Start once with failOnDataLoss=false to continue.",
        "Delete the uncommitted offsets/3.",
        "Delete the state directories of all instances.",
    ],
)
def test_an_unconditional_remedy_is_found(remedy):
    assert unconditional(f"def rule():\n    return Verdict(remedy={remedy!r})") == [remedy]
    assert unconditional(f"def rule():\n    return Verdict(remedy='If x: ' + {remedy!r})") == []
