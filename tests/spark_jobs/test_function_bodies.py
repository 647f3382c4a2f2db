"""Which changes of a function's code count, and which don't."""

import importlib
import sys

import pytest

from headgate.spark_jobs.user_functions import digest

BASE = '''
import functools
import json
RATE = 3
TABLE = {"a": 1}
def helper(x):
    return x * RATE
def f(x, y=2):
    """Doc."""
    # a comment
    return helper(x) + y
def made(n):
    def inner(x):
        return x + n
    return inner
class Processor:
    LIMIT = 3
    def init(self, handle):
        self.c = handle.getValueState("c", "c long")
    def rows(self, key):
        return helper(key)
class Callable:
    def __call__(self, x):
        return x
g = made(1)
h = lambda x: helper(x)
p = functools.partial(f, y=4)
c = Callable()
b = Processor().rows
j = json.dumps
def loop(x):
    return loop(x - 1) if x else 0
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(text):
        (tmp_path / "bodies_under_test.py").write_text(text)
        sys.modules.pop("bodies_under_test", None)
        importlib.invalidate_caches()
        import linecache

        linecache.clearcache()
        return importlib.import_module("bodies_under_test")

    yield load
    sys.modules.pop("bodies_under_test", None)


NAMES = ("f", "g", "h", "p", "c", "b", "j", "loop", "Processor")


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("# a comment", "# another\n", ""),
        ('"""Doc."""', '"""Other words."""', ""),
        ("return helper(x) + y", "return (helper(x)\n            + y)", ""),
        ("\nRATE", "\n\n\nunused = 1\nRATE", ""),
        ("RATE = 3", "RATE = 4", "fhpbProcessor"),
        ("x * RATE", "x + RATE", "fhpbProcessor"),
        ("+ y", "- y", "fp"),
        ("y=2", "y=3", "fp"),
        ("y=4", "y=5", "p"),
        ("made(1)", "made(2)", "g"),
        ("return x + n", "return x - n", "g"),
        ("lambda x: helper(x)", "lambda x: helper(x) + 1", "h"),
        ('"c long"', '"c int"', "Processor"),
        ("LIMIT = 3", "LIMIT = 4", "Processor"),
        ("        return x\n", "        return x + 1\n", "c"),
        ("loop(x - 1)", "loop(x - 2)", "loop"),
    ],
)
def test_what_counts(module, old, new, changed):
    before = module(BASE)
    was = {name: digest(getattr(before, name)) for name in NAMES}
    assert old in BASE
    after = module(BASE.replace(old, new))
    now = {name: digest(getattr(after, name)) for name in NAMES}
    differ = [name for name in NAMES if was[name] != now[name]]
    assert "".join(differ) == changed


def test_what_a_lambda_shares_its_line_with_does_not_count(module):
    both = module("pair = (lambda x: x + 1, lambda x: x - 1)\n")
    assert digest(both.pair[0]) != digest(both.pair[1])
    other = module("pair = (lambda x: x + 1, lambda x: x - 2)\n")
    assert digest(other.pair[0]) == digest(module("pair = (lambda x: x + 1, 3)\n").pair[0])


def test_what_an_object_was_made_with_counts(module):
    code = "class Scaled:\n    def __init__(self, by):\n        self.by = by\n"
    one, ten, again = (module(f"{code}\ns = Scaled({by})\n").s for by in (1, 10, 1))
    assert digest(one) == digest(again)
    assert digest(one) != digest(ten)
