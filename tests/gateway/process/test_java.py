"""Which Java is taken: the one that PySpark takes, or a sentence that says what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headgate.errors import SetupError
from headgate.gateway.process import java as java_module
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


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\nexec sleep 9\n", "-version` did not end within 0.2 s"),
        ("", "Exec format error"),
    ],
)
def test_a_java_that_does_not_start_is_said_in_words(tmp_path, monkeypatch, script, said):
    (tmp_path / "bin").mkdir()
    file = tmp_path / "bin" / "java"
    file.write_text(script)
    file.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(java_module, "_TIMEOUT_S", 0.2)
    with pytest.raises(SetupError, match=said) as caught:
        read_java()
    assert str(file) in str(caught.value)
