"""Finding the jars: the environment wins, and what is missing is said in one sentence."""

import pytest

from headgate.errors import SetupError
from headgate.gateway.process import jars


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "a.jar").touch()
    monkeypatch.setenv(jars.ENVIRONMENT, str(tmp_path))
    assert jars.spark_jars() == (tmp_path / "spark" / "a.jar",)


def test_missing_jars_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv(jars.ENVIRONMENT, str(tmp_path))
    with pytest.raises(SetupError, match="run `make setup`"):
        jars.broker_class_path()


def test_the_cache_is_keyed_by_the_ivy_file(monkeypatch):
    monkeypatch.delenv(jars.ENVIRONMENT, raising=False)
    folder = jars.jars_folder()
    assert folder.parent.parts[-2:] == (".cache", "jars")
    assert len(folder.name) == 12
