"""What a Python module imports, read from its code."""

import pytest

from headgate.errors import ParseError
from headgate.parse.python.imports import Imported, read_imports


def read(code):
    return read_imports(code.encode(), source="a.py")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import a.b as c, d", (Imported("a.b"), Imported("d"))),
        ("from a import b, c", (Imported("a", 0, ("b", "c")),)),
        ("from . import b", (Imported("", 1, ("b",)),)),
        ("from ..x import *", (Imported("x", 2, ("*",)),)),
        (
            "def f():\n    try:\n        import a\n    except ImportError:\n        a = 1",
            (Imported("a"),),
        ),
        (
            "import importlib\nimportlib.import_module('a.b')",
            (Imported("importlib"), Imported("a.b")),
        ),
        ("x = 'import a'", ()),
    ],
)
def test_imports_wherever_they_are(code, found):
    assert read(code).imported == found
    assert read(code).unresolved == ()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import importlib\nimportlib.import_module(name)", "calls import_module"),
        ("import importlib\nimportlib.import_module('.b', package=p)", "calls import_module"),
        ("\n__import__('a' + x)", "calls __import__"),
        ("\nexec(code)", "calls exec"),
        ("import sys\nsys.path.insert(0, 'x')", "uses sys.path"),
        ("import sys\nsys.meta_path.append(Finder())", "uses sys.meta_path"),
        ("\nfrom sys import path", "imports sys.path"),
        ("\nfrom importlib import import_module as load", "imports importlib.import_module"),
    ],
)
def test_what_only_a_run_can_resolve(code, reason):
    assert read(code).unresolved == ((2, reason),)


def test_a_method_of_the_same_name_is_none():
    assert read("df.eval('a')\ndf.exec()").unresolved == ()


def test_constants_that_may_name_files():
    found = read('a = "sql/orders.sql"\nb = "./x.json"\nc = f"{HERE}/y.avsc"\nd = "no file"').files
    assert found == {"sql/orders.sql", "x.json", "y.avsc"}


@pytest.mark.parametrize("code", [b"def f(:", b"\x00", b"x = 'a\xff'"])
def test_what_is_no_python_is_an_error_with_its_line(code):
    with pytest.raises(ParseError, match=r"a\.py:1: the file isn't valid Python code"):
        read_imports(code, source="a.py")
