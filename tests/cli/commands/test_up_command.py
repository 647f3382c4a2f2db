"""`headgate up` without headgate.toml: it says what to do and leaves nothing behind."""

from click.testing import CliRunner

from headgate.cli.main import headgate


def test_without_headgate_toml_nothing_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    ended = CliRunner().invoke(headgate, ["up"])
    assert ended.exit_code == 2
    assert "Pass the file with --config, or use --demo" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_doctor_without_headgate_toml_asks_for_the_file_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    said = CliRunner().invoke(headgate, ["doctor"]).output
    (worker,) = [line for line in said.splitlines() if line.startswith("note  worker")]
    assert "create headgate.toml, then run `headgate up`" in worker
