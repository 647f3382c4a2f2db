"""`headgate capture` on evidence that is there already."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import dump, load
from support.waiting import PATIENCE


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "v.json").write_bytes(dump(Version(engine=Engine.SPARK, name="a")))
    (tmp_path / "h.toml").write_text(
        '[[pipeline]]\nname = "orders"\nengine = "spark"\ncheckpoint = "ck"\n'
    )
    return lambda *args: CliRunner().invoke(headgate, ["capture", *args])


def test_a_pipe_is_written_to_and_a_link_is_followed(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("there.json")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        assert run("v.json", "-o", "pipe").exit_code == 0
        assert load(read.result(PATIENCE), source="pipe").name == "a"
    assert run("v.json", "-o", "link").exit_code == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there.json").is_file()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_without_options_the_version_file_goes_to_stdout(run):
    for args in ([], ["--format", "json"], ["-o", "-"]):
        result = run("v.json", *args)
        assert result.exit_code == 0, result.stderr
        assert load(result.stdout_bytes, source="stdout").name == "a"


def test_a_file_is_written_and_said(run, tmp_path):
    result = run("v.json", "-o", "out.json")
    assert (result.exit_code, result.stdout.startswith("wrote out.json: ")) == (0, True)
    assert load((tmp_path / "out.json").read_bytes(), source="out").name == "a"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["h.toml", "out.json", "v.json"]


def test_into_the_store(run):
    args = ("v.json", "--pipeline", "orders", "--config", "h.toml")
    assert run(*args).stdout.startswith("orders@1: a new version; ")
    again = json.loads(run(*args, "--format", "json").stdout)
    assert next(iter(again)) == "schema"
    assert (again["pipeline"], again["number"], again["new"]) == ("orders", 1, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["v.json", "--pipeline", "ordres", "--config", "h.toml"], "did you mean orders?"),
        (
            ["v.json", "--pipeline", "orders"],
            "headgate.toml not found in this folder, so no pipeline is registered",
        ),
        (["nope.json"], "isn't a file"),
        (["v.json", "-o", "no/folder.json"], "No such file or directory"),
        (["v.json", "-o", "v.json/x.json"], "x.json can't be written: Not a directory"),
        (["v.json", "-o", "x" * 300], "File name too long"),
        (["v.json", "-o", ""], "the file name is empty"),
        (["nowhere_at_all:query"], "module nowhere_at_all can't be imported"),
        ([], "Missing argument"),
    ],
)
def test_what_is_wrong_is_exit_2(run, args, said):
    result = run(*args)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not result.stdout
