"""Imports are followed as Python itself resolves them."""

import subprocess
import sys
from importlib.util import spec_from_file_location

import pytest

from headgate.usecases.gate.follow_imports import ImportFollower

TREES = {
    "relative": {
        "a/__init__.py": "",
        "a/main.py": "from . import b\nfrom .c.d import e\nfrom .. import nothing",
        "a/b.py": "",
        "a/c/__init__.py": "from ..f import g",
        "a/c/d.py": "e = 1",
        "a/f.py": "g = 1",
    },
    "star": {
        "a/__init__.py": "__all__ = ['b', 'c']",
        "a/b.py": "",
        "a/c.py": "import d",
        "a/main.py": "from a import *",
        "d.py": "",
    },
    "circle": {
        "a/__init__.py": "import a.main",
        "a/main.py": "import b",
        "b.py": "import c",
        "c.py": "import b",
    },
    "namespace": {"a/main.py": "import n.x\nfrom n import y", "n/x.py": "", "n/y.py": ""},
    "package first": {
        "a/main.py": "import m",
        "m/__init__.py": "",
        "m.py": "",
    },
}


def write(folder, files):
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.mark.parametrize("tree", sorted(TREES))
def test_every_file_that_python_imports_is_followed(tmp_path, tree):
    write(tmp_path, TREES[tree])
    program = (
        "import sys, importlib\n"
        "try:\n    importlib.import_module('a.main')\nexcept ImportError:\n    pass\n"
        "print(*(m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    imported = {
        p.removeprefix(f"{tmp_path}/") for p in done.stdout.split() if p.startswith(str(tmp_path))
    }
    followed = ImportFollower(tmp_path, [tmp_path]).follow("a.main")
    existing = {p for p in followed.paths if (tmp_path / p).is_file()}
    assert len(imported) >= 2
    assert imported <= existing
    assert followed.unresolved == ()


def test_a_chain_of_a_thousand_modules(tmp_path):
    for n in range(1000):
        (tmp_path / f"m{n}.py").write_text(f"import m{n + 1}\n")
    (tmp_path / "m1000.py").write_text("")
    assert "m1000.py" in ImportFollower(tmp_path, [tmp_path]).follow("m0").paths


def test_what_is_no_python_is_unresolved(tmp_path):
    (tmp_path / "a.py").write_text("def f(:\n")
    assert ImportFollower(tmp_path, [tmp_path]).follow("a").unresolved == (
        "a.py:1: the file isn't valid Python code",
    )


def test_only_folders_of_the_repository_are_searched(tmp_path):
    write(tmp_path, {"repo/a.py": "import b", "other/b.py": "import c"})
    followed = ImportFollower(tmp_path / "repo", [tmp_path / "repo", tmp_path / "other"]).follow(
        "a"
    )
    assert {p for p in followed.paths if (tmp_path / "repo" / p).exists()} == {"a.py"}


ELSEWHERE = {
    "libs/json.py": "",
    "libs/common2.py": "",
    "libs/pyspark/sql/nothing.py": "",
    "libs/y/src/of_team/common.py": "",
    "of_team/setup.py": "",
    "of_team/of_team/common.py": "",
}


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("from common2 import x", "libs"),
        ("import of_team.common", "of_team"),
        ("from of_team import common", "of_team"),
        ("from .of_team import common", None),
        ("from of_team import setup", None),
        ("import json", None),
        ("import pyspark.sql.nothing", None),
    ],
)
def test_a_module_of_a_folder_that_python_does_not_import_from(tmp_path, monkeypatch, code, place):
    monkeypatch.chdir(tmp_path)
    files = ELSEWHERE | {"jobs/a.py": code}
    write(tmp_path, files)
    followed = ImportFollower(tmp_path, [tmp_path], files).follow("jobs.a")
    said = [f"is in the folder {place}: set PYTHONPATH={place}"] if place else []
    assert [text.partition(" ")[2].partition(" ")[2] for text in followed.unresolved] == said


def test_an_editable_package_of_the_clone_is_not_an_installed_one(tmp_path, monkeypatch):
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            file = tmp_path / "deep/er/own/__init__.py"
            return spec_from_file_location(name, file) if name == "own" else None

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    files = {"a.py": "import own.part", "deep/er/own/__init__.py": "", "deep/er/own/part.py": ""}
    write(tmp_path, files)
    (said,) = ImportFollower(tmp_path, [tmp_path], files).follow("a").unresolved
    assert said == "module own.part is in the folder deep/er: set PYTHONPATH=deep/er"
