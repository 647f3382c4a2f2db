"""Which Java is taken: the one that PySpark takes, or a sentence that says what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headgate.errors import SetupError
from headgate.gateway.process.java import OLDEST, java, read_java


def test_java_home_comes_before_the_path(tmp_path, monkeypatch):
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").symlink_to(Path(shutil.which("java")))
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java() == str(home / "bin" / "java")
    assert read_java().major >= OLDEST


def test_the_path_serves_where_java_home_is_not_set(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert java() == shutil.which("java")


def test_a_java_home_without_java_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=str(tmp_path)):
        java()


def test_no_java_at_all_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="install Java"):
        java()
