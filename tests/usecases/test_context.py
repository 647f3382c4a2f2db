"""Which file is opened, and where store and home are."""

import os
import pwd
from pathlib import Path

import pytest

from headgate.errors import NotFoundError, RegistryError
from headgate.usecases.context import open_context

PIPELINE = '[[pipeline]]\nname = "{}"\nengine = "spark"\ncheckpoint = "ck"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_the_option_wins_over_the_variable_over_the_folder(folder, monkeypatch):
    for name in ("option.toml", "variable.toml", "headgate.toml"):
        (folder / name).write_text(PIPELINE.format(name))
    assert open_context().registry.pipelines[0].name == "headgate.toml"
    monkeypatch.setenv("HEADGATE_CONFIG", "variable.toml")
    assert open_context().registry.pipelines[0].name == "variable.toml"
    assert open_context("option.toml").registry.pipelines[0].name == "option.toml"


def test_store_and_home_are_beside_the_file(folder):
    (folder / "team").mkdir()
    (folder / "team" / "h.toml").write_text(PIPELINE.format("a"))
    context = open_context("team/h.toml")
    assert context.home == folder / "team" / ".headgate"
    assert context.store_url == f"sqlite:///{folder}/team/.headgate/headgate.db"
    assert context.registry.pipelines[0].checkpoint == str(folder / "team" / "ck")
    assert not context.home.exists()


def test_the_files_own_store_wins(folder):
    (folder / "headgate.toml").write_text('[store]\nurl = "sqlite:///x.db"')
    assert open_context().store_url == f"sqlite:///{folder}/x.db"


def test_without_a_file_the_registry_is_empty(folder, monkeypatch):
    context = open_context()
    assert (context.registry.pipelines, context.registry.path) == ((), None)
    assert context.home == folder / "state" / "headgate"
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", str(folder))
    assert open_context().home == folder / ".local" / "state" / "headgate"


def test_a_file_that_is_not_there_is_said_with_who_named_it(folder, monkeypatch):
    with pytest.raises(NotFoundError, match=r"nope.toml not found. Check --config"):
        open_context("nope.toml")
    monkeypatch.setenv("HEADGATE_CONFIG", str(folder))
    with pytest.raises(NotFoundError, match=r"is a folder, not a file. Check HEADGATE_CONFIG"):
        open_context()


def test_a_file_of_other_bytes_has_its_line(folder):
    (folder / "headgate.toml").write_bytes(b"# a\n# \xff\n")
    with pytest.raises(RegistryError, match=r"headgate.toml:2: the file isn't UTF-8 text"):
        open_context()
    (folder / "headgate.toml").write_bytes(b"\xef\xbb\xbf" + PIPELINE.format("a").encode())
    assert open_context().registry.pipelines


def test_a_name_that_no_file_can_have_is_said_like_that(folder):
    with pytest.raises(NotFoundError, match=r"File name too long. Check --config"):
        open_context("x" * 5000)


def test_an_empty_home_is_none(folder, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", "")
    assert open_context().home == Path(pwd.getpwuid(os.getuid()).pw_dir, ".local/state/headgate")
